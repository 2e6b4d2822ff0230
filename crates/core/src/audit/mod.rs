//! Who acts, and the audit log (R384–R390).

mod acting;

pub use acting::{Acting, Actor, ActorKind, OperationName};

//! Work that is completed even if its caller stops waiting: sends, and all other work that calls a
//! gateway and has to record its answer.

mod handle;
mod spawner;
mod under_way;

pub use handle::{CutOff, Tasks};
pub use spawner::{Spawner, Work};
pub(crate) use under_way::UnderWay;

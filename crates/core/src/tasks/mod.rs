//! Work that comes to its end whoever waits for it: sends, and whatever else calls a gateway and has
//! to record its answer.

mod handle;
mod spawner;
mod under_way;

pub use handle::{CutOff, Tasks};
pub use spawner::{Spawner, Work};
pub(crate) use under_way::UnderWay;

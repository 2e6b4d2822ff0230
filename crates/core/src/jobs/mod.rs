//! Durable background work: a job is a row, claimed with a lease and finished by a commit.

mod job;
mod reads;
mod work;

pub use job::{Job, JobKind, PurgeStage};
pub use reads::JobReads;
pub use work::Jobs;

//! Where the bytes of documents are kept.

mod local;
#[cfg(feature = "s3")]
mod s3;

pub use local::LocalFiles;
#[cfg(feature = "s3")]
pub use s3::S3Files;

//! Files to be sent (X10, X11): uploads with their bytes in the object store, each for any number
//! of messages.

mod detect;
mod error;
mod fetch;
mod filename;
mod free;
mod handle;
mod keep;
mod limits;
mod manage;
mod outgoing;
mod redirect;
mod source;
mod sweep;
mod upload;
mod view;

pub use error::{FileRefused, Unreachable};
pub(crate) use free::free_uploads_job;
pub use handle::Uploads;
pub use keep::{NewFile, ReceiveError};
pub use limits::{MAX_FILE_BYTES, allowed_types, contract_limit};
pub use source::{FileSource, FileWish, read_source};
pub(crate) use sweep::carried_by;
pub use upload::{FileHash, Upload, UploadState};
pub use view::UploadView;

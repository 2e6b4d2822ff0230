//! The official cloud API that is not there.

use super::{FakeRequest, Gateway, Reply};

/// The official cloud API. Clones share everything.
#[derive(Clone, Debug, Default)]
pub struct FakeCloud;

impl Gateway for FakeCloud {
    fn answer(&self, _request: &FakeRequest) -> Reply {
        Reply::refused()
    }
}

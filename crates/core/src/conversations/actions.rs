//! What operators do with conversations.

use crate::Recado;

/// The use cases on conversations. Made by [`Recado::conversations`].
#[derive(Clone, Copy, Debug)]
pub struct Conversations<'a> {
    pub(crate) app: &'a Recado,
}

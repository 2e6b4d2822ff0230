//! Message templates (4.10, D48, D69).

mod compose;
mod draft;
mod follow;
mod manage;
mod needs;
mod reads;
mod template;
mod text;

pub use compose::{ComposeError, Composed, Lacking, compose};
pub(crate) use draft::Category;
pub use draft::{TemplateDraft, TemplatePatch, read_category};
pub use follow::SyncTemplatesError;
pub use manage::{Templates, WriteTemplate};
pub use needs::{ButtonNeed, TemplateNeeds};
pub use reads::TemplateReads;
pub use template::{
    DEFAULT_LANGUAGE, NeedsView, Template, TemplateCategory, TemplateStatus, TemplateTokenHash,
    TemplateTokenView, TemplateView, choose,
};
pub use text::{literal_tag, position, positions, render, rendered_chars, unknown_tag};

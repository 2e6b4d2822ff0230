//! Message templates (4.10, D48, D69, X15).

mod components;
mod components_draft;
mod compose;
mod compose_error;
mod contact_fields;
mod content;
mod draft;
mod fillable;
mod fit;
mod follow;
mod given;
mod given_draft;
mod literal_tag;
mod manage;
mod needs;
mod offer;
mod reads;
mod template;
mod text;
mod variable;

pub use components::{ButtonKind, ButtonPart, Components, HeaderKind, HeaderPart};
pub use components_draft::{ButtonDraft, ComponentsDraft, HeaderDraft};
pub use compose::{Composed, compose};
pub use compose_error::{ComposeError, GivenPart, Lacking};
pub(crate) use contact_fields::{OPEN, Piece, field_names, pieces, stand_in};
pub use content::{Parameter, SentButton, SentHeader, TemplateContent};
pub(crate) use draft::Category;
pub use draft::{TemplateDraft, TemplatePatch, read_category};
pub use follow::SyncTemplatesError;
pub(crate) use given::TextPlace;
pub use given::{ButtonValue, GivenButton, HeaderValue, TemplateValues, VariableValues};
pub use given_draft::{ButtonValueDraft, HeaderValueDraft};
pub(crate) use given_draft::{ButtonValues, Variables};
pub use literal_tag::literal_tag;
pub use manage::{Templates, WriteTemplate};
pub use needs::{ButtonNeed, TemplateNeeds};
pub use reads::TemplateReads;
pub use template::{
    DEFAULT_LANGUAGE, NeedsView, Template, TemplateCategory, TemplateStatus, TemplateTokenHash,
    TemplateTokenView, TemplateView, choose,
};
pub use text::{one_sort, ordered, positions, render, rendered_chars, unknown_tag, variables};
pub use variable::{Variable, position};

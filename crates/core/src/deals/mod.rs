//! Pipelines, their stages, deals, and the focus stage of a contact (2.5.1, D44b).

mod deal;
mod draft;
mod focus;
mod manage;
mod pipeline;
mod reads;

pub use deal::{Deal, DealStatus};
pub use draft::{DealDraft, DealPatch, PipelineDraft, PipelinePatch, StageDraft};
pub use focus::focus_stage;
pub use manage::{ChangeDeal, DealFacts, Deals};
pub use pipeline::{Pipeline, PipelineView, Stage};
pub use reads::DealReads;

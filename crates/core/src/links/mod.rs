//! Tracked links and their clicks (2.1 `link_clicks`, D60).

mod human;
mod link;
mod manage;
mod reads;

pub use human::{Visit, is_human};
pub use link::{Click, Link, LinkClicks, LinkCode, LinkCodeHash};
pub use manage::{LinkCodeView, LinkDraft, LinkView, Links};
pub use reads::LinkReads;

//! Tracked links and their clicks (2.1 `link_clicks`, D60).

mod clicker;
mod human;
mod limits;
mod link;
mod manage;
mod reads;

pub use clicker::Clicker;
pub use human::{Visit, is_human};
pub use limits::{ClickRates, rates};
pub use link::{Click, Link, LinkClicks, LinkCode, LinkCodeHash};
pub use manage::{LinkCodeView, LinkDraft, LinkView, Links};
pub use reads::LinkReads;

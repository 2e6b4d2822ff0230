#![doc = include_str!("../README.md")]
//!
//! # Adding a page
//!
//! See [`pages`].
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod ask;
mod assets;
mod body;
mod cookies;
mod csrf;
mod fields;
#[cfg(test)]
mod harness;
mod headers;
mod i18n;
mod last_hour;
mod multipart;
mod options;
pub mod pages;
mod pipeline;
mod places;
mod refusal;
mod reply;
mod route;
mod service;
mod theme;
mod view;
mod visit;

pub use body::ConsoleBody;
pub use last_hour::{Backlog, Counters, LastHour, SAMPLE_EVERY, Sample};
pub use options::ConsoleOptions;
pub use route::{Access, Reads, Route, Verb, routes};
pub use service::{AnswerFuture, Console};

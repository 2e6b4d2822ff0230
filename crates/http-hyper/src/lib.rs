#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! Recado's HTTP surface as a service over hyper, and its guarded HTTP client.
//!
//! [`RecadoHttp`] answers any request; [`serve`] runs it on a listener, or mount it in your own
//! server. [`GuardedClient`] is the [`Transport`](recado_core::transport::Transport) of the core.
//!
//! With the feature `axum` it mounts in an axum application: `RecadoHttp` is a service for
//! `Router::fallback_service`, the peer's address is taken from axum's `ConnectInfo`, and own
//! routes can use `ApiCaller` and `ApiError`.
//!
//! # Adding a path
//!
//! 1. A handler in the file of its feature: parse, call, map.
//! 2. An entry in that file's `ROUTES`, with its documentation. The router, `Allow`, the checks of
//!    its surface, metrics, logs and the OpenAPI document all follow from the entry.
//! 3. Review the difference in `openapi.json` (see the test in `openapi`).
//! 4. A line in `tests/clients/calls.jsonl`, so that the generated clients make the call, too.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod accept;
mod answer;
mod answer_body;
mod as_of;
mod bearer;
mod body;
mod budget;
mod call;
mod campaigns;
mod cells;
mod client;
mod connector;
mod contacts;
mod custom_fields;
mod dispatches;
mod error;
mod events;
mod exchange;
mod exports;
mod fair_shares;
mod file_answer;
mod file_body;
pub mod form_frames;
mod forwarding;
mod guard;
mod health;
mod idempotency;
#[cfg(feature = "axum")]
mod in_axum;
mod inbound;
mod known_operators;
mod large_body;
mod line_limit;
mod links;
mod lists;
mod logging;
mod lookups;
mod marks;
mod media;
mod messages;
mod metrics;
mod mount;
mod network;
mod openapi;
mod operator;
mod operators;
mod options;
mod path;
mod peer;
mod pipeline;
mod places;
mod pool;
mod prosas;
mod provider_webhooks;
mod query;
mod quietly;
mod readers;
mod reference;
mod request_body;
mod request_id;
mod request_span;
mod route;
mod router;
mod sending;
mod server;
mod service;
mod shared;
mod stream;
mod surface;
mod target;
mod timed_io;
mod uploads;

pub use answer_body::AnswerBody;
pub use cells::{CellAddress, Cells};
pub use client::{ClientOptions, GuardedClient};
pub use guard::Reach;
#[cfg(feature = "axum")]
pub use in_axum::{ApiCaller, ApiError};
pub use mount::{IsFile, Mount, MountedBody};
pub use network::{Network, SystemNetwork};
pub use openapi::openapi;
pub use options::{HttpOptions, Limits, Paths, QrPainter, Readiness, RenderMetrics};
pub use peer::PeerAddress;
pub use server::{Drained, ServeOptions, serve, serve_with};
pub use service::{AnswerFuture, RecadoHttp};

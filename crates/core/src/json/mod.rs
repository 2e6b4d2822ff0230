//! JSON whose numbers keep their text.
//!
//! `serde_json` keeps a number as an `i64`, `u64` or `f64`. That loses the digits of `1.50`, of an
//! id beyond 2^64 and of an amount with many decimal places, and refuses a body that holds `1e400`.
//! Its feature `arbitrary_precision` would keep them, but Cargo turns a feature on for the whole
//! program: floats in tagged, untagged and flattened types of the host program could no longer be
//! read. So bodies are parsed here. [`Value`] is for rules that show digits or compare them (D46a,
//! R104); all other code reads a [`serde_json::Value`] made from it.

mod decimal;
mod number;
mod read;
mod value;

pub use number::Number;
pub use read::{NotJson, read};
pub use value::Value;

//! Traces of the real binary with the feature `otlp`, as a collector receives them: R310–R314.

mod collector;
mod secrecy;
mod spans;
mod troubles;

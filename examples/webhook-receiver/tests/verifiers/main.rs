//! Tests the signatures of deliveries with verifiers: the snippets of this example in each
//! installed language, and verifiers that others wrote. A verifier that could not be run is
//! reported on standard error, and in the file that `RECADO_NOT_RUN` names.

mod crates;
mod drivers;
mod languages;
mod libraries;
mod vectors;

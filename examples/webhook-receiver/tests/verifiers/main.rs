//! What signs deliveries against what verifies them: the snippets of this example in each language
//! that the machine has, and verifiers that others wrote. What could not be run says so on standard
//! error, and in the file that `RECADO_NOT_RUN` names.

mod crates;
mod drivers;
mod languages;
mod libraries;
mod vectors;

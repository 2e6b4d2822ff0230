//! The binary `recado`.
fn main() {}

//! The binary `halyard`.

fn main() {}

//! The commands of the program `halyard`, one module each.
//!
//! Map: [`demo`] plays the guide's story.

pub mod demo;

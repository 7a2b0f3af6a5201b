//! The demo: the guide's story, played on real parts.
//!
//! Map: [`provider`] is the payment provider that the story's worker charges.

pub mod provider;

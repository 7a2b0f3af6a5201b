//! The contract, on PostgreSQL. It needs a server: `scripts/services run cargo test …`.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod schema;

halyard_store::contract!(crate::schema::InSchema);

//! The guide's billing, in Rust: subscriptions are charged each month, and months are closed.
//!
//! | file | |
//! |---|---|
//! | `charge_subscription` | the handler that charges a subscription for a month |
//! | `close_month` | the handler that closes a month, in three steps |
//! | `db` | the company's PostgreSQL |
//! | `payments` | the payment provider: Stripe, or what speaks its wire |
//! | `bin/renewals`, `bin/worker` | the programs |
//! | `bin/migrate`, `bin/sample` | programs to begin with: tables, ten subscriptions |
//!
//! The tests put something around [`db::Database`] and [`payments::Payments`] that dies between two
//! of their calls; the handlers are the same there as in the worker.
//!
//! Deliberately absent: a client made by Stripe, since there is none for Rust. `payments` sends
//! its one form by itself.

pub mod charge_subscription;
pub mod close_month;
pub mod db;
pub mod payments;

//! PostgreSQL: many servers on one database.
//!
//! | file | what |
//! |---|---|
//! | `url`, `tls`, `connect` | where the database is, how it is spoken to, the connections |
//! | `migrations` | the schema's history |
//! | `statements`, `sql/` | every statement, with the types of its parameters |
//! | `rows` | rows to nouns |
//! | `lanes` | calls that wait, the groups that they are run in, what a failed group does |
//! | `transaction` | one group: begin, load, run, write, commit |
//! | `needs`, `load`, `save` | what calls need, loading and locking it, writing the difference |
//! | `store`, `prune` | the verbs |

mod connect;
mod lanes;
mod load;
mod needs;
mod prune;
mod save;
mod store;
mod transaction;

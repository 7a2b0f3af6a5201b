//! Every statement of the writer, prepared once when the thread starts.

use rusqlite::vtab::array;
use rusqlite::{Connection, Statement};

macro_rules! statements {
    ($($name:ident),* $(,)?) => {
        /// One prepared statement a file in `sql/`.
        pub(super) struct Statements<'c> {
            $(pub(super) $name: Statement<'c>,)*
        }

        impl<'c> Statements<'c> {
            /// Prepares them all: a statement that does not fit the schema fails at start-up.
            pub(super) fn prepare(connection: &'c Connection) -> rusqlite::Result<Self> {
                // Statements that take a list.
                array::load_module(connection)?;
                Ok(Self {
                    $($name: connection.prepare(include_str!(
                        concat!("sql/", stringify!($name), ".sql")
                    ))?,)*
                })
            }
        }
    };
}

statements! {
    api_key_delete, api_key_insert, api_key_use, api_keys, attempt_by_token, attempt_error,
    attempt_insert, attempts_delete, audit_insert, audit_prune, begin, body, body_delete,
    body_insert, checkpoint_by_name, checkpoint_insert, checkpoints, checkpoints_delete, claimed,
    commit, counter_delete, counter_set, due, ended, ended_first, job_by_id, job_by_seq, job_delete,
    job_insert, job_save, job_tally, jobs_and_bodies, key, key_bury, key_delete,
    key_delete_tombstone, key_hold, key_of_tombstone, keys_prune, lapsed, leases_cut, live,
    minute_add, minutes_prune, queue_set, ready, request, request_save, requests_prune, result,
    result_delete, result_save, sign_in_delete, sign_in_insert, sign_ins_trim, stamp_set,
    totals_add, vacuum,
}

//! One suite for every store: each verb, races, and random commands against the model.
//!
//! A store's own test file names a [`Maker`] and calls [`contract!`](crate::contract!), which
//! makes one test of each case and one of the random commands.
//!
//! | room | what it holds a store to |
//! |---|---|
//! | `create`, `keys`, `requests` | duplicates, keys and their lifetime, remembered requests |
//! | `claim`, `lease`, `finish`, `checkpoint` | what workers see |
//! | `operate` | what people do by hand, in every state |
//! | `access` | keys, sign-ins, the audit log |
//! | `read`, `watch` | pages and counts, the night watch |
//! | `races` | many callers at once |
//! | [`random`] | sequences of commands: every answer and what is stored must equal the model's |
//! | [`trial`] | an open store with its clock, and the words in which cases are written |
//!
//! Durability, crashes and speed are not here: each store proves those by its own means.
//!
//! To add a case: a `pub async fn` of a [`Trial`] in its room, and its name in the list below; a
//! test finds a case that is not listed.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "this is a test that lives in a library: a panic is its verdict"
)]

pub mod access;
pub mod checkpoint;
pub mod claim;
pub mod create;
pub mod finish;
pub mod keys;
pub mod lease;
pub mod operate;
pub mod races;
pub mod random;
pub mod read;
pub mod requests;
pub mod trial;
pub mod watch;

use std::any::Any;
use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;

pub use self::trial::Trial;
use crate::Store;
use crate::options::Options;

/// Opens stores of one kind.
#[async_trait]
pub trait Maker: Send + Sync + 'static {
    /// Opens an empty store.
    async fn open(&self, options: Options) -> Opened;

    /// How many random sequences are run unless `HALYARD_SEQUENCES` says otherwise.
    fn sequences(&self) -> u64 {
        random::SEQUENCES
    }
}

/// A store, and what must live as long as it: a directory, a server.
pub struct Opened {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Dropped after it.
    pub keep: Box<dyn Any + Send + Sync>,
}

impl Opened {
    /// A store that needs nothing beside it.
    #[must_use]
    pub fn alone(store: impl Store) -> Self {
        Self { store: Arc::new(store), keep: Box::new(()) }
    }
}

/// Runs one case on an empty store, then looks whether what is stored agrees with itself.
///
/// # Panics
/// When the store breaks the contract.
pub fn run<F: Future<Output = ()>>(maker: impl Maker, case: impl FnOnce(Arc<Trial>) -> F) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let trial = Arc::new(Trial::open(&maker).await);
        case(Arc::clone(&trial)).await;
        trial.assert_sound().await;
    });
}

/// Makes a test of every case of the contract. Takes an expression that gives a
/// [`Maker`](crate::contract::Maker).
#[macro_export]
macro_rules! contract {
    ($maker:expr) => {
        $crate::contract_cases! { $maker;
            create: a_new_job_is_as_it_was_sent, what_a_duplicate_gets,
                a_create_repeats_by_its_own_id, a_known_id_is_a_replay_or_taken,
                a_known_id_is_known_by_its_key,
                a_batch_is_judged_in_order, a_replaced_job_says_by_whom, a_job_runs_again_as_new;
            keys: a_key_expires_by_the_clock, an_expired_key_changes_hands,
                what_a_delete_leaves_of_a_key, what_a_purge_leaves_of_a_key,
                a_retry_holds_its_key_again_if_it_can, a_key_is_forgotten_by_its_id,
                an_old_job_never_frees_a_newer_ones_key;
            requests: a_request_is_answered_again, a_request_is_answered_with_a_tombstone,
                a_request_is_forgotten_after_a_day,
                what_was_refused_is_judged_anew, a_batch_remembers_its_refused_members,
                actions_are_answered_again;
            claim: claims_in_order_over_all_named_queues, claims_only_what_is_named,
                a_paused_queue_is_passed_by, an_answer_ends_before_it_is_too_large,
                an_answer_of_failed_jobs_is_bounded_as_well,
                a_claim_sent_again_finds_its_leases, only_due_jobs_are_claimed;
            lease: heartbeats_move_a_lease, a_dead_token_renews_nothing,
                a_lease_lapses_at_its_instant, a_lapse_is_a_timeout_or_a_crash,
                the_last_crash_fails_the_job, an_outage_gives_a_fresh_length,
                every_changing_verb_heeds_an_outage, a_served_store_knows_no_outage;
            finish: what_a_report_makes_of_a_job, what_a_report_makes_of_a_cancelled_job,
                a_repeated_report_is_answered_as_recorded, a_late_report_changes_nothing,
                bad_members_leave_their_neighbours_alone, attempts_are_recorded,
                too_many_releases_count, too_many_snoozes_count, a_result_keeps_its_bytes;
            checkpoint: first_write_wins, checkpoints_outlive_attempts_and_lives,
                a_retry_drops_what_it_is_told, who_may_write,
                a_job_has_room_for_so_much, a_checkpoint_is_progress;
            operate: what_an_action_does_in_each_state, a_retry_names_the_life_it_saw,
                an_action_settles_a_lapsed_lease, a_bulk_action_is_many_single_ones;
            read: pages_in_order_of_creation, lists_by_each_filter, queues_and_tasks_are_counted,
                totals_and_minutes_move, replays_and_rejections_are_added_by_the_stamp,
                how_jobs_stand, what_is_not_there;
            watch: due_jobs_are_promoted_in_order, lapsed_leases_are_reaped_in_order,
                old_jobs_are_pruned_by_age_and_count, tombstones_and_requests_are_pruned,
                changes_are_heard_of;
            access: keys_are_kept_until_they_are_revoked, sign_ins_are_kept_until_they_end,
                a_key_pushes_out_its_own_sign_ins_alone,
                what_operators_do_is_written_down, a_delete_with_its_key_is_written_down_as_both,
                the_audit_log_is_read_in_pages, the_audit_log_is_kept_so_long;
            races: one_key_many_creators, one_request_many_senders, claims_share_no_job,
                cancel_meets_finish, reap_meets_finish, one_life_many_retries,
                delete_meets_claim;
        }

        #[test]
        fn random_commands() {
            $crate::contract::random::run($maker);
        }

        #[test]
        fn a_storm_of_random_commands() {
            $crate::contract::random::storm::run($maker);
        }
    };
}

/// The part of [`contract!`](crate::contract!) that repeats.
#[doc(hidden)]
#[macro_export]
macro_rules! contract_cases {
    ($maker:expr; $($room:ident: $($case:ident),+;)+) => {
        $($(
            #[test]
            fn $case() {
                $crate::contract::run($maker, $crate::contract::$room::$case);
            }
        )+)+
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_case_is_listed() {
        let list = include_str!("mod.rs");
        let rooms = [
            include_str!("access.rs"),
            include_str!("checkpoint.rs"),
            include_str!("claim.rs"),
            include_str!("create.rs"),
            include_str!("finish.rs"),
            include_str!("keys.rs"),
            include_str!("lease.rs"),
            include_str!("operate.rs"),
            include_str!("races.rs"),
            include_str!("read.rs"),
            include_str!("requests.rs"),
            include_str!("watch.rs"),
        ];
        let mut cases = 0;
        for line in rooms.iter().flat_map(|room| room.lines()) {
            let Some(rest) = line.strip_prefix("pub async fn ") else { continue };
            let name = rest.split('(').next().unwrap_or_default();
            let listed = list.split(|c: char| !c.is_alphanumeric() && c != '_');
            assert!(listed.into_iter().any(|word| word == name), "`{name}` is not listed");
            cases += 1;
        }
        assert!(cases > 60, "{cases}");
    }
}

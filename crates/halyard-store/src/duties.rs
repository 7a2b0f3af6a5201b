//! What a store must do beyond core's rules, so that all of them answer alike. A page, no code.
//!
//! # Time
//!
//! - A verb reads the clock once, at its start; that is its `now`.
//! - **Outage.** A store keeps the newest stamp; a new store begins with one of its opening. Every
//!   verb that may change anything first compares: if `now - stamp >`
//!   [`OUTAGE_MS`](halyard_core::limits::OUTAGE_MS), each running start goes through
//!   [`extend_over_outage`](halyard_core::lease::extend_over_outage) and the stamp becomes `now`.
//!   `stamp` always sets it. Reading verbs (`get`, `states`, `list`, `holder`, `queues`, `queue`,
//!   `tasks`, `running_by_worker`, `stats`, `ready_queues`) do neither.
//! - **Settle.** A verb with a seed that touches one job (`finish`, `checkpoint`, `retry`,
//!   `cancel`, `run_now`, `delete`, `bulk`) first ends its lapsed start by
//!   [`lapse`](halyard_core::outcome::lapse), so that the answer never depends on the reaper. What
//!   was settled stays, also when the verb then refuses or the token is dead. A verb without a seed
//!   never settles: `create` and `run_as_new` answer a running job as it is stored, `heartbeat`
//!   answers a lapsed lease as lost.
//! - A due job is claimable when `promote` or `run_now` has made it so; no other verb does.
//!
//! # Chance
//!
//! - The `i`-th outcome of a `finish` uses `seed.unit(i)`. A lapse, in `reap` and wherever it is
//!   settled, uses `seed.unit(seq)` of its job. The `i`-th job of a claim's answer gets
//!   `seed.start_marks(i, now)`, counted from 0.
//!
//! # Order
//!
//! - `seq` counts created jobs: 1, 2, 3, …. A create that makes no job uses none up, and a number
//!   is never used again, also after a deletion.
//! - Batches are judged in order, each member as if sent singly, after those before it.
//! - Claims, and answers of a repeated claim: priority (higher first), `run_at`, `seq`; over all
//!   named queues as one list; paused queues are passed by.
//! - `promote` takes jobs by `run_at`, `seq`; `reap` by `expires_at`, `seq`.
//! - `prune` takes, within its one limit: jobs by age, completed ones first, then failed, then
//!   cancelled, each by `finished_at`, `seq`; then, when more than `max_jobs` ended jobs are left,
//!   the surplus by `finished_at`, `seq` over all three states; then expired tombstones by
//!   `expires_at`, `job_id`; then expired requests by `expires_at`, scope, value.
//! - Pages by `seq`, newest first unless `ascending`. `next` is the `seq` of the page's last row if
//!   a further row matches, or of the last examined row if the bound was hit. The model examines
//!   without bound. `key` finds the job that holds the key, expired or not, never a tombstone.
//! - Queues, tasks and workers by name; minutes oldest first, those with `at + 24 h > now`.
//!
//! # Claims
//!
//! - An answer ends before the job whose payload, checkpoints and last error, as JSON writes them,
//!   would bring it over
//!   [`CLAIM_ANSWER_BYTES_MAX`](halyard_core::limits::CLAIM_ANSWER_BYTES_MAX); smaller jobs behind
//!   it wait too. The first job is always in it.
//! - `repeat` with a mark under which leases are live answers all of those and nothing else,
//!   whatever queues, tasks and `max` say: its worker never saw them, so their size is what it was.
//!   Without any it is a new claim.
//!
//! # Dead tokens
//!
//! - `heartbeat` answers a lease, `finish` a report, when its token is that of the running start
//!   and that start has not lapsed. Otherwise the start with that token, if any, decides
//!   ([`judge_repeat`](halyard_core::outcome::judge_repeat),
//!   [`Standing::of`](halyard_core::checkpoint::Standing::of)).
//! - A call is *rejected* when its job exists and it is answered with a lost lease, or with a
//!   conflict that names a recorded report. Rejections count on the job and in the totals.
//!
//! # Keys and ids
//!
//! - A (task, key) has at most one holder: a job whose `holds_key` is true, or a tombstone. An
//!   expired holder stays until somebody takes the key, or its row is pruned; then an old job's
//!   `holds_key` becomes false and an old tombstone goes. A job whose key was *replaced* also gets
//!   `replaced_by`.
//! - A create with a key asks [`Holder::judge`](halyard_core::key::Holder::judge) first. When it
//!   would make a new job (no holder, an expired one, replace), and without a key, its id is looked
//!   up among the jobs: [`IdClash::judge`](halyard_core::key::IdClash::judge) says whether it is a
//!   replay or [`IdTaken`](crate::verbs::Created::IdTaken); both leave the key alone. Payloads are
//!   compared by value; the job's key is the one it was made with, held or not. `run_as_new` is
//!   such a create.
//! - A retry that opens a life of a job with a key that it does not hold: an unexpired other holder
//!   refuses it ([`KeyTaken`](halyard_core::operate::Refusal::KeyTaken), judged last, nothing
//!   changes), an expired one is taken over; then the job holds its key again. Its `replaced_by`
//!   stays.
//! - A new life drops the result; a completed start's record becomes a row of its own.
//! - A delete of a job that has not ended counts as one life cancelled.
//! - `forget_key` frees what the id holds: its job's key, and unexpired or expired tombstones of
//!   that id. True when the job exists, with or without key, or an unexpired tombstone did.
//! - An id that was used again with another key may leave several tombstones. Where one is asked
//!   for by id, it is the first unexpired one by task and key.
//!
//! # Remembered requests
//!
//! - After the outage rule and before anything else a [`RequestKey`](crate::verbs::RequestKey) is
//!   looked up. Expired (`now >=` its time plus
//!   [`REQUEST_KEY_TTL_MS`](halyard_core::limits::REQUEST_KEY_TTL_MS)) is absent. Another body:
//!   `Reused` with the job of the first accepted member.
//! - A request is remembered when a member was accepted: `New`, `Replayed`, `Purged`, `Done`.
//!   Members that were not are remembered with their refusal and get it again, word by word.
//! - Replayed, an accepted create gives `Replayed` with `revived: false`. When the row is gone, or
//!   the create was answered with a tombstone, it gives the job's tombstone, `Purged`, while that
//!   is unexpired, otherwise `Gone`. An accepted action gives `Done` with `repeated: true` and the
//!   job as it is now; when the row is gone, `view: None` for a delete and `NotFound` for the rest.
//!   Nothing is settled.
//! - `repeated` is otherwise true for
//!   [`Retried::Repeated`](halyard_core::operate::Retried::Repeated) alone.
//!
//! # Counts
//!
//! - `replays` and `rejected` of jobs, and the totals `replayed`, `keys_refused` and
//!   `reports_rejected`, are gathered in memory and added by the verb `stamp` alone. Answers show
//!   what is stored. What was gathered for a job that is gone by then is dropped; the totals are
//!   not. Every answer `Replayed` (revived or not, from a remembered request too) counts on its job
//!   and in `replayed`, every `Purged` in `replayed`, every `KeyReused` in `keys_refused`.
//! - `created`, `completed`, `failed`, `cancelled`, `retried` (revived too), `leases_lost`,
//!   `timed_out` and the minutes move in the transaction itself. A minute is that of `now`, also
//!   for a start that lapsed earlier.
//! - A queue is known while it has jobs, and for ever once it was paused, so that a resume can be
//!   repeated. `oldest_queued_at` is the least `run_at`
//!   of its queued jobs, also while it is paused.
//!
//! # Changes
//!
//! - Each job whose state, life or attempt differs after a commit, that was made, or that is gone
//!   is heard of at least once, last with what it is then; so is one whose cancel was requested.
//!   Heartbeats, checkpoints, counts and outages are silent.

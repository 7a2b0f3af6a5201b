//! Bugs that tests plant, one at a time, to prove that the tests bite.
//!
//! Each bug is one line beside the rule that it breaks, `if planted(Bug::…)`. Without the feature
//! `planted-bugs` that is `if false`: a release cannot even be told to misbehave. With it,
//! [`choose`] names a bug and [`switch`] turns it on and off around single calls, so that a sound
//! store and a broken one can be compared in one process. The switch is one for the process; tests
//! that use it run one after the other.

#[cfg(all(feature = "planted-bugs", not(debug_assertions)))]
compile_error!("planted bugs are for tests; a release is built without the feature");

macro_rules! bugs {
    (
        rules { $($(#[$rule_doc:meta])+ $rule:ident,)+ }
        stores { $($(#[$store_doc:meta])+ $store:ident,)+ }
        sqlite { $($(#[$sqlite_doc:meta])+ $sqlite:ident,)+ }
    ) => {
        /// What a test can break.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Bug {
            $($(#[$rule_doc])+ $rule,)+
            $($(#[$store_doc])+ $store,)+
            $($(#[$sqlite_doc])+ $sqlite,)+
        }

        impl Bug {
            /// Those of core's rules: they break every store that asks the rule.
            pub const RULES: &[Self] = &[$(Self::$rule),+];
            /// Those of what a store does on its own: each store plants them in its own code.
            pub const STORES: &[Self] = &[$(Self::$store),+];
            /// Those of what only SQLite's store has: transactions, groups, memory beside the rows.
            pub const SQLITE: &[Self] = &[$(Self::$sqlite),+];

            /// The bug of that name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                let all = [Self::RULES, Self::STORES, Self::SQLITE];
                all.into_iter().flatten().copied().find(|bug| format!("{bug:?}") == name)
            }
        }
    };
}

bugs! {
    rules {
        /// A claim does not count as an attempt.
        AttemptNotRaised,
        /// A cancel ends a completed job as cancelled.
        CancelOverwritesCompleted,
        /// A requested cancel does not end a failed or released start's job.
        CancelForgotten,
        /// Another value under a known name is saved.
        CheckpointOverwritten,
        /// A retry loses the checkpoints.
        CheckpointsLostByRetry,
        /// A job that kills its worker circles until its attempts are used up.
        CrashLimitIgnored,
        /// An error's text is kept as it came.
        ErrorTextNotCleaned,
        /// A non-retryable failure is retried.
        HopelessRetried,
        /// A key lives a millisecond too long.
        KeyExpiresLate,
        /// A lapse counts from when it is seen.
        LapseCountsFromNow,
        /// A retry does not look which life its caller saw.
        LifeNotCompared,
        /// Leases lapse while nobody could renew them.
        OutageIgnored,
        /// An outage cuts a lease that was longer than what its worker asked for last.
        OutageShortensLease,
        /// Another payload under a known key is a replay.
        PayloadNotCompared,
        /// The reaper ends starts that have ended.
        ReaperForgetsState,
        /// A release costs an attempt.
        ReleaseBurnsAttempt,
        /// A heartbeat moves the end of a lease back.
        RenewedBackwards,
        /// A heartbeat moves a lease past its deadline.
        RenewedPastDeadline,
        /// A repeated report is turned away.
        RepeatRejected,
        /// A repeated report of another result is a repeat.
        ResultNotCompared,
        /// A purge frees the key.
        RetentionIgnoresKeys,
        /// Two claims hand out one token.
        TokenReused,
    }
    stores {
        /// Priority has no say in the order of claims.
        ClaimIgnoresPriority,
        /// A heartbeat renews a lapsed lease.
        HeartbeatRevives,
        /// A key is free as soon as its job has ended.
        KeyFreedAtEnd,
        /// A create does not look who holds its key.
        KeyNotUnique,
        /// A lease counts from the last stamp.
        LeaseFromStaleTime,
        /// A paused queue is claimed from.
        PausedQueueClaimed,
        /// Rejected calls are not counted.
        RejectionsNotCounted,
        /// A remembered request is done again.
        RequestForgotten,
        /// Any token may save a checkpoint.
        TokenUncheckedInCheckpoint,
        /// Any token may report.
        TokenUncheckedInFinish,
    }
    sqlite {
        /// Callers are answered, and then their group is committed.
        AnsweredBeforeCommit,
        /// A claim leases a job more than it returns.
        ClaimLeasesMore,
        /// A group that failed is answered as if it had not.
        CommitErrorAnswered,
        /// Counters are written after the commit of what they count.
        CountersApart,
        /// Counters in memory keep what a rolled-back group counted.
        CountersKeptOverRollback,
        /// A group of several that failed is answered as if it had not.
        GroupAcknowledgedWhole,
        /// A row is written whatever its state and token are now.
        GuardDropped,
        /// The index that makes a key one job's is gone.
        KeyIndexGone,
        /// A member that fails takes its group with it.
        NeighboursFailed,
        /// Running jobs in memory stay as a rolled-back group made them.
        RunningKeptOverRollback,
        /// After a restart, the number of a job that is gone is given again.
        SeqReusedAfterRestart,
        /// A rolled-back stamp stays in memory.
        StampKeptOverRollback,
        /// After a restart, claims hand out the tokens of before.
        TokenReusedAfterRestart,
        /// Listeners hear of a change, and then it is committed.
        ToldBeforeCommit,
    }
}

#[cfg(not(feature = "planted-bugs"))]
mod switch {
    /// Says whether a test has planted this bug: never, in a build without the feature.
    #[must_use]
    #[inline(always)]
    pub const fn planted(_: super::Bug) -> bool {
        false
    }
}

#[cfg(feature = "planted-bugs")]
mod switch {
    use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

    use super::Bug;

    static CHOSEN: AtomicU8 = AtomicU8::new(u8::MAX);
    static ON: AtomicBool = AtomicBool::new(false);

    /// Says whether a test has planted this bug and turned it on.
    #[must_use]
    pub fn planted(bug: Bug) -> bool {
        ON.load(Ordering::SeqCst) && CHOSEN.load(Ordering::SeqCst) == bug as u8
    }

    /// Names the bug that [`switch`] turns on.
    pub fn choose(bug: Bug) {
        CHOSEN.store(bug as u8, Ordering::SeqCst);
    }

    /// Turns the chosen bug on or off.
    pub fn switch(on: bool) {
        ON.store(on, Ordering::SeqCst);
    }
}

pub use self::switch::*;

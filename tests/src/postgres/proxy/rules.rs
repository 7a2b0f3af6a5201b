//! When a proxy acts, and what it does then.

use std::collections::{HashMap, HashSet};

/// A moment in the life of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The client's bytes up to this number have reached the server, and no further one: counted
    /// from when the moment was armed, in each connection by itself.
    ToServer(u64),
    /// The same for the server's bytes on their way to the client.
    ToClient(u64),
    /// The client has sent a COMMIT and the server has not received it: nothing is committed.
    BeforeCommit,
    /// The server has committed, and the client knows nothing of its answer.
    AfterCommit,
    /// The server has done a statement whose tag begins with this, for instance `INSERT` or
    /// `UPDATE`, and is ready for the next; the client knows nothing of its answer. A statement
    /// that is a transaction of its own is committed then.
    AfterStatement(&'static str),
}

/// What happens at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Cut,
    Hold,
}

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Way {
    ToServer,
    ToClient,
}

#[derive(Debug)]
pub(super) struct Rule {
    moment: Moment,
    action: Action,
    /// Acts at every so many of its moments; at the first one alone when `once`.
    every: u32,
    once: bool,
    seen: u32,
    done: bool,
    /// What connections had sent when it was armed, and who has passed its byte since.
    before: HashMap<(u64, Way), u64>,
    passed: HashSet<u64>,
}

impl Rule {
    pub(super) fn new(
        moment: Moment,
        action: Action,
        every: Option<u32>,
        before: HashMap<(u64, Way), u64>,
    ) -> Self {
        let once = every.is_none();
        let every = every.unwrap_or(1).max(1);
        let passed = HashSet::new();
        Self { moment, action, every, once, seen: 0, done: false, before, passed }
    }

    /// The client asks for a commit.
    pub(super) fn on_commit(&mut self) -> Option<Action> {
        if self.moment == Moment::BeforeCommit { self.met() } else { None }
    }

    /// The server says that it has done something.
    pub(super) fn on_answer(&mut self, tag: &str) -> Option<Action> {
        let wanted = match self.moment {
            Moment::AfterCommit => "COMMIT",
            Moment::AfterStatement(wanted) => wanted,
            _ => return None,
        };
        if tag.starts_with(wanted) { self.met() } else { None }
    }

    /// A connection that has passed `total` bytes this way is to pass `more`: after how many of
    /// them its moment comes, and what happens then.
    pub(super) fn on_bytes(
        &mut self,
        link: u64,
        way: Way,
        total: u64,
        more: u64,
    ) -> Option<(u64, Action)> {
        let at = match (&self.moment, way) {
            (Moment::ToServer(at), Way::ToServer) | (Moment::ToClient(at), Way::ToClient) => *at,
            _ => return None,
        };
        let passed = total - self.before.get(&(link, way)).copied().unwrap_or(0);
        let left = at.saturating_sub(passed);
        if left > more || !self.passed.insert(link) {
            return None;
        }
        self.met().map(|action| (left, action))
    }

    fn met(&mut self) -> Option<Action> {
        if self.done {
            return None;
        }
        self.seen += 1;
        let acts = self.seen.is_multiple_of(self.every);
        self.done = acts && self.once;
        acts.then_some(self.action)
    }
}

//! Calls on their way through a lane.

use tokio::sync::oneshot;

use super::needs::{Needs, Ready};
use crate::session::Session;
use crate::{Answer, StoreError};

/// A call on its way: run as often as its group must be, answered once.
pub(super) trait Call: Send {
    fn weight(&self) -> usize;
    fn need(&self, needs: &mut Needs);
    /// What it wants of the claimable jobs. Calls of one group want the same.
    fn wants(&self) -> Option<&Ready>;
    /// It shares its transaction with nobody, whose lock it would wait for.
    fn is_alone(&self) -> bool;
    fn run(&mut self, session: &mut Session<'_>);
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

/// A verb of the session, with what it needs to have loaded.
pub(super) struct Verb<N, F, T> {
    weight: usize,
    wants: Option<Ready>,
    is_alone: bool,
    need: N,
    work: F,
    given: Option<T>,
    caller: oneshot::Sender<Answer<T>>,
}

impl<N, F, T> Verb<N, F, T> {
    /// One with these needs, which `need` tells; its answer goes to `caller`.
    pub(super) fn new(
        weight: usize,
        needs: Needs,
        (need, work): (N, F),
        caller: oneshot::Sender<Answer<T>>,
    ) -> Self {
        let (wants, is_alone) = (needs.ready, needs.tally);
        Self { weight, wants, is_alone, need, work, given: None, caller }
    }
}

impl<N, F, T> Call for Verb<N, F, T>
where
    N: Fn(&mut Needs) + Send,
    F: FnMut(&mut Session<'_>) -> T + Send,
    T: Send,
{
    fn weight(&self) -> usize {
        self.weight.max(1)
    }

    fn need(&self, needs: &mut Needs) {
        (self.need)(needs);
    }

    fn wants(&self) -> Option<&Ready> {
        self.wants.as_ref()
    }

    fn is_alone(&self) -> bool {
        self.is_alone
    }

    fn run(&mut self, session: &mut Session<'_>) {
        self.given = Some((self.work)(session));
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self { given, caller, .. } = *self;
        let lost = || Err(StoreError::Unavailable("the call was not run".to_owned()));
        let answer = committed.and_then(|()| given.map_or_else(lost, Ok));
        // A caller that went away is nobody's loss: what it asked for is done.
        drop(caller.send(answer));
    }
}

/// Calls that share a transaction.
pub(super) struct Group {
    pub(super) calls: Vec<Box<dyn Call>>,
    /// Claims that the calls woke, and that came in time.
    pub(super) guests: Vec<Box<dyn Call>>,
}

impl Group {
    pub(super) fn of(calls: Vec<Box<dyn Call>>) -> Self {
        Self { calls, guests: Vec::new() }
    }

    pub(super) fn into_all(mut self) -> Vec<Box<dyn Call>> {
        self.calls.append(&mut self.guests);
        self.calls
    }
}

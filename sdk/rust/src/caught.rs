//! Work whose panic is caught, so that something can be seen to first.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Work that ends with its output, or with what it panicked with.
pub(crate) struct Caught<F>(Pin<Box<F>>);

impl<F> Caught<F> {
    pub(crate) fn new(work: F) -> Self {
        Self(Box::pin(work))
    }
}

impl<F: Future> Future for Caught<F> {
    type Output = Result<F::Output, Box<dyn Any + Send>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Nobody looks at the work again after it has panicked.
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

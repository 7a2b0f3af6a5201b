//! Reports that are too large.

use halyard::{HandlerError, HandlerResult, Job, State};
use halyard_tests::server::Server;

use crate::work::{begin, client, create, ended, new_job, url};

const MIB: usize = 1024 * 1024;

/// Case 27 · Result or failure report too large
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_27_result_or_failure_report_too_large() {
    let server = Server::start();
    let halyard = client(&url(&server));
    // A result of so many bytes of JSON: a text between two quotes.
    let returns = async |job: Job| HandlerResult::Ok("x".repeat(job.payload::<usize>()? - 2));
    let fails = async |job: Job| {
        let text = "x".repeat(job.payload()?);
        Err::<(), _>(HandlerError::from(text))
    };
    let worker =
        begin(&halyard, |worker| worker.task("returns", returns).task("fails", fails)).await;
    for (bytes, state) in [
        (MIB - 1, State::Completed),
        (MIB, State::Completed),
        (MIB + 1, State::Failed),
        (50 * MIB, State::Failed),
    ] {
        let id = create(&halyard, new_job("returns").payload(&bytes)).await;
        let job = ended(&halyard, &id).await;
        assert_eq!((job.state, job.starts), (state, 1), "{bytes} bytes");
        if state == State::Failed {
            let error = job.error.unwrap();
            let told = (error.r#type.as_str(), error.kind.as_str());
            assert_eq!(told, ("InvalidResult", "non_retryable"), "{bytes} bytes");
        }
    }
    for bytes in [5 * MIB, 50 * MIB] {
        let id = create(&halyard, new_job("fails").payload(&bytes).max_attempts(2)).await;
        let job = ended(&halyard, &id).await;
        assert_eq!((job.state, job.starts, job.rejected), (State::Failed, 2, 0), "{bytes} bytes");
        let error = job.error.unwrap();
        assert!(error.message.starts_with('x') && error.message.len() <= 8 * 1024);
    }
    worker.stop().await;
}

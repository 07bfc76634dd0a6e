//! What becomes of what handlers do.

use std::time::Duration;

use pgflow::prelude::*;
use pgflow::{
    RunStatus,
    client::{Parts, StepStatus},
};
use pgflow_worker_tests::{Fresh, Outcome, everywhere};

#[data]
#[derive(Clone, Debug, PartialEq)]
enum Way {
    Fine,
    TwiceWrong,
    Panic,
    Slow,
    Fatal,
    Skip,
    NotANumber,
    InAges,
    BadDisplay,
    BadSource,
    BadDrop,
    OwnCause,
}

/// An error with a bug, or which is its own cause.
#[derive(Debug)]
struct Bad(Way);

impl std::fmt::Display for Bad {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        assert!(self.0 != Way::BadDisplay, "no words");
        f.write_str("bad")
    }
}

impl std::error::Error for Bad {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        assert!(self.0 != Way::BadSource, "no cause");
        (self.0 == Way::OwnCause).then_some(self)
    }
}

impl Drop for Bad {
    fn drop(&mut self) {
        assert!(self.0 != Way::BadDrop, "no end");
    }
}

/// The step does what the run's input says.
#[flow(input = Way, base_delay = 1, max_attempts = 3, timeout = 1)]
mod one {
    use super::*;

    #[step]
    pub(crate) async fn act(run: Way, ctx: Context) -> Result<f64> {
        super::act(run, ctx.attempt()).await
    }
}

#[flow(input = Way, max_attempts = 1)]
mod once {
    use super::*;

    #[step]
    pub(crate) async fn act(run: Way, ctx: Context) -> Result<f64> {
        super::act(run, ctx.attempt()).await
    }
}

#[flow(input = Way, max_attempts = 1)]
mod maybe {
    use super::*;

    #[step(when_exhausted = skip)]
    pub(crate) async fn act(run: Way, ctx: Context) -> Result<f64> {
        super::act(run, ctx.attempt()).await
    }

    #[step(depends_on = [act])]
    pub(crate) async fn after(act: Option<f64>) -> Result<bool> {
        Ok(act.is_none())
    }
}

#[flow(input = u64)]
mod texts {
    use super::*;

    #[step]
    pub(crate) async fn nul(run: u64) -> Result<Vec<String>> {
        Ok(vec![run.to_string(), "a\0b".to_owned()])
    }
}

async fn act(way: Way, attempt: u32) -> Result<f64> {
    match way {
        Way::TwiceWrong if attempt < 3 => Err("not yet".into()),
        Way::Fine | Way::TwiceWrong => Ok(f64::from(attempt)),
        Way::Panic => panic!("out of paper"),
        Way::Slow => {
            tokio::time::sleep(Duration::from_mins(1)).await;
            Ok(0.0)
        }
        Way::Fatal => Err(Error::fatal("no such customer")),
        Way::Skip => Err(Error::skip("nothing to do")),
        Way::NotANumber => Ok(f64::NAN),
        Way::InAges => Err(Error::retry_after(Duration::MAX, "later")),
        Way::BadDisplay | Way::BadSource | Way::BadDrop | Way::OwnCause => Err(Bad(way).into()),
    }
}

everywhere!(
    a_failure_is_tried_again,
    a_panic_is_a_failure_with_its_message,
    a_bug_in_an_error_is_a_failure_with_its_message,
    no_delay_is_too_long,
    a_slow_handler_is_aborted,
    some_failures_are_final_at_once,
    a_step_can_ask_to_be_skipped,
);

async fn a_failure_is_tried_again(fresh: Fresh) -> Outcome {
    let worker = fresh.work(one::Flow).await?;
    let run = fresh.db.start(one::Flow, &Way::TwiceWrong).await?;
    assert!((run.output().await?.act - 3.0).abs() < f64::EPSILON, "the third attempt");
    worker.stop().await?;
    Ok(())
}

/// Why the step of a run failed.
async fn error(fresh: &Fresh, way: Way) -> Outcome<String> {
    let run = fresh.db.start(one::Flow, &way).await?;
    assert_eq!(run.wait().await?, RunStatus::Failed);
    let record = run.record(Parts::Steps).await?;
    Ok(record.steps[0].error.clone().unwrap_or_default())
}

async fn a_panic_is_a_failure_with_its_message(fresh: Fresh) -> Outcome {
    let worker = fresh.work(one::Flow).await?;
    assert_eq!(error(&fresh, Way::Panic).await?, "panicked: out of paper");
    let report = worker.stop().await?;
    assert_eq!(report.settled, 3, "every attempt was recorded: {report}");
    Ok(())
}

async fn a_bug_in_an_error_is_a_failure_with_its_message(fresh: Fresh) -> Outcome {
    let worker = fresh.work(once::Flow).await?;
    let cases = [
        (Way::BadDisplay, "panicked: no words"),
        (Way::BadSource, "panicked: no cause"),
        (Way::BadDrop, "panicked: no end"),
        (Way::OwnCause, "bad"),
    ];
    for (way, text) in cases {
        let error = fresh.db.start(once::Flow, &way).await?.output().await.expect_err("it fails");
        assert!(error.to_string().ends_with(&format!("step `act`: {text}")), "{error}");
    }
    let report = worker.stop().await?;
    assert_eq!((report.settled, report.superseded), (4, 0), "every attempt counts: {report}");
    Ok(())
}

async fn no_delay_is_too_long(fresh: Fresh) -> Outcome {
    let worker = fresh.work(one::Flow).await?;
    let patient = fresh.db.start(one::Flow, &Way::InAges).await?;
    assert_eq!(patient.status().await?, RunStatus::Started, "it waits");
    fresh.db.start(one::Flow, &Way::Fine).await?.output().await?;
    let report = worker.stop().await?;
    assert_eq!((report.settled, report.lost), (2, 0), "{report}");
    Ok(())
}

async fn a_slow_handler_is_aborted(fresh: Fresh) -> Outcome {
    let worker = fresh.work(one::Flow).await?;
    let error = error(&fresh, Way::Slow).await?;
    assert_eq!(error, "timed out: the handler was aborted after 1 s");
    worker.stop().await?;
    Ok(())
}

async fn some_failures_are_final_at_once(fresh: Fresh) -> Outcome {
    let worker = fresh.work(one::Flow).await?;
    assert_eq!(error(&fresh, Way::Fatal).await?, "no such customer");
    let not_a_number = error(&fresh, Way::NotANumber).await?;
    assert_eq!(
        not_a_number,
        "cannot store the output of step `act`: the number at $ is NaN, which JSON has no form for"
    );
    let nul = fresh.work(texts::Flow).await?;
    let run = fresh.db.start(texts::Flow, &u64::MAX).await?;
    let why = run.output().await.expect_err("it cannot be stored").to_string();
    assert!(why.contains("the text at $[1] contains the character NUL"), "{why}");
    assert_eq!(worker.stop().await?.settled, 2, "none was tried again");
    assert_eq!(nul.stop().await?.settled, 1);
    Ok(())
}

async fn a_step_can_ask_to_be_skipped(fresh: Fresh) -> Outcome {
    let worker = fresh.work(maybe::Flow).await?;
    let run = fresh.db.start(maybe::Flow, &Way::Skip).await?;
    assert!(run.output().await?.after);
    let progress = run.progress().await?;
    assert_eq!(progress[0].status, StepStatus::Skipped);
    let strict = fresh.work(one::Flow).await?;
    let why = error(&fresh, Way::Skip).await?;
    assert!(why.starts_with("nothing to do (step `act` asked to be skipped, which"), "{why}");
    strict.stop().await?;
    worker.stop().await?;
    Ok(())
}

//! Calls at the edge of what makes sense: each has an answer.

use std::time::Duration;

use pgflow::backend::{BackendError, NewRun, Reply, Started};
use pgflow::prelude::*;
use pgflow::{
    ClientError, RunStatus, WorkerError,
    client::{RunQuery, StartIn},
};
use pgflow_worker_tests::{Fresh, Outcome, Working, everywhere};

#[flow(slug = "echo_edges", input = u64, max_attempts = 1)]
mod echo {
    use super::*;

    #[step]
    pub(crate) async fn again(run: u64) -> Result<u64> {
        Ok(run)
    }
}

everywhere!(
    a_time_without_end_is_no_limit,
    a_closed_database_says_so_at_once,
    a_worker_of_a_closed_database_ends,
    events_of_no_run_end,
    events_after_the_last_one_end,
    a_reason_is_the_same_everywhere,
);

async fn soon<T>(call: impl Future<Output = T>) -> Outcome<T> {
    Ok(tokio::time::timeout(Duration::from_mins(1), call).await?)
}

async fn a_time_without_end_is_no_limit(fresh: Fresh) -> Outcome {
    fresh.db.register(echo::Flow).await?;
    let worker = Worker::new(&fresh.db).flow(echo::Flow).grace(Duration::MAX);
    let worker = Working::start(worker);
    let run = fresh.db.start(echo::Flow, &1).await?;
    let ended = soon(run.wait_for(Duration::MAX)).await??;
    assert_eq!(ended, Some(RunStatus::Completed));
    assert!(soon(worker.stop()).await??.is_clean());
    Ok(())
}

async fn a_closed_database_says_so_at_once(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.register(echo::Flow).await?;
    let run = db.start(echo::Flow, &1).await?;
    db.close().await?;
    let answers = [
        db.start(echo::Flow, &1).await.err(),
        run.status().await.err(),
        run.wait().await.err(),
        run.cancel(None).await.err(),
        run.retry().await.err(),
        db.list(&RunQuery::default()).await.err(),
        run.events().next().await.and_then(Result::err),
    ];
    for answer in answers {
        assert!(matches!(answer, Some(ClientError::Backend(BackendError::Closed))), "{answer:?}");
    }
    let refused = Worker::new(db).flow(echo::Flow).run(std::future::pending()).await;
    assert!(matches!(refused, Err(WorkerError::Backend(BackendError::Closed))), "{refused:?}");
    assert!(matches!(db.migrate().await, Err(BackendError::Closed)));
    Ok(())
}

async fn a_worker_of_a_closed_database_ends(fresh: Fresh) -> Outcome {
    fresh.db.register(echo::Flow).await?;
    let working = tokio::spawn(Worker::new(&fresh.db).flow(echo::Flow).run(std::future::pending()));
    fresh.db.start(echo::Flow, &1).await?.wait().await?;
    fresh.db.close().await?;
    let ended = soon(working).await??;
    assert!(matches!(ended, Err(WorkerError::Backend(BackendError::Closed))), "{ended:?}");
    Ok(())
}

/// A transaction that is never committed.
struct RolledBack;

impl StartIn for RolledBack {
    fn start_run(&mut self, _run: NewRun) -> Reply<'_, Started> {
        Box::pin(std::future::ready(Ok(Started::Created)))
    }
}

async fn events_of_no_run_end(fresh: Fresh) -> Outcome {
    fresh.db.register(echo::Flow).await?;
    let gone = fresh.db.start_in(&mut RolledBack, echo::Flow, &1).await?;
    let mut events = gone.events();
    let first = soon(events.next()).await?;
    assert!(matches!(first, Some(Err(ClientError::UnknownRun { .. }))), "{first:?}");
    assert!(soon(events.next()).await?.is_none());
    Ok(())
}

async fn events_after_the_last_one_end(fresh: Fresh) -> Outcome {
    fresh.db.register(echo::Flow).await?;
    let run = fresh.db.start(echo::Flow, &1).await?;
    let mut beyond = run.events_after(1000);
    let early = tokio::spawn(async move { beyond.next().await });
    // It has looked at a run that goes on.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let worker = fresh.work(echo::Flow).await?;
    run.wait().await?;
    assert!(soon(early).await??.is_none());
    assert!(soon(run.events_after(1000).next()).await?.is_none());
    worker.stop().await?;
    Ok(())
}

async fn a_reason_is_the_same_everywhere(fresh: Fresh) -> Outcome {
    fresh.db.register(echo::Flow).await?;
    let run = fresh.db.start(echo::Flow, &1).await?;
    run.cancel(Some("no\0thing")).await?;
    let error = run.output().await.expect_err("it was cancelled").to_string();
    assert!(error.ends_with("was cancelled: no\u{fffd}thing"), "{error:?}");
    Ok(())
}

/// What a program prints that shows an error with all its causes.
fn printed(error: &dyn std::error::Error) -> Vec<String> {
    std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_say_everything_once() -> Outcome {
    let fresh = Fresh::postgres().await?;
    let place = fresh.url.split('?').next().expect("a place");
    let name = place.rsplit('/').next().expect("a database");
    let error = Db::connect(&fresh.url.replacen(name, "nodb", 1)).await.expect_err("there is none");
    let text = error.to_string();
    assert!(text.starts_with("cannot use postgres"), "{text}");
    assert!(text.ends_with(": database \"nodb\" does not exist"), "{text}");
    assert_eq!(printed(&error), [text]);

    let error = Db::connect("postgres://localhost:1/nodb").await.expect_err("nobody is there");
    let text = error.to_string();
    let start = "cannot connect to postgres://localhost:1/nodb: the database cannot be reached: Connection refused";
    assert!(text.starts_with(start), "{text}");
    assert_eq!(printed(&error), [text]);

    let error = Db::connect("sqlite:no/such/app.db").await.expect_err("no directory");
    let why = "cannot create the database file no/such/app.db: its directory does not exist";
    assert_eq!(printed(&error), [format!("cannot use sqlite:no/such/app.db: {why}")]);
    Ok(())
}

/// URLs that somebody got wrong, on the way that everybody goes.
#[tokio::test]
async fn no_error_shows_a_password() {
    let urls = [
        "postgres://rv:sek?ret@localhost:1/q",
        "postgres://rv:sek#ret@localhost:1/q",
        "postgres:rv:sekret@localhost/q",
        "postgres:/rv:sekret@localhost/q",
        "postgres://rv@localhost:1/q?sslmode=sekret",
        "postgres://rv:sekret@localhost:1/q?sslpassword=sekret",
        "sqlite:x.db?key=sekret",
        "sqlite://rv:sekret@no/such/x.db",
        "postgre://rv:sekret@localhost/q",
        "rv:sekret@localhost/q",
    ];
    let connected = urls.map(|url| tokio::spawn(Db::connect(url)));
    for connected in connected {
        let error = connected.await.expect("no panic").expect_err("nothing can be used");
        let text = format!("{error:?} {}", printed(&error).join(" "));
        assert!(!text.contains("sek") && !text.contains("ret@"), "{text}");
    }
}

//! Runs that are started at the same time.

use std::collections::HashSet;

use pgflow::backend::BackendError;
use pgflow::prelude::*;
use pgflow::{ClientError, RunId, RunStatus};
use pgflow_worker_tests::{Fresh, Outcome, everywhere};
use tokio::task::JoinSet;

#[flow(slug = "echo_starts", input = u64, max_attempts = 1)]
mod echo {
    use super::*;

    #[step]
    pub(crate) async fn again(run: u64) -> Result<u64> {
        Ok(run)
    }
}

#[flow(input = u64, max_attempts = 1)]
mod other {
    use super::*;

    #[step]
    pub(crate) async fn again(run: u64) -> Result<u64> {
        Ok(run)
    }
}

#[flow(input = u64, max_attempts = 1)]
mod unknown {
    use super::*;

    #[step]
    pub(crate) async fn again(run: u64) -> Result<u64> {
        Ok(run)
    }
}

/// What became of a start.
#[derive(Debug, PartialEq, Eq)]
enum What {
    New(RunId),
    Old(RunId),
    UnknownFlow,
    OtherFlow,
}

/// Of every ten: six new runs, two of one key, one of a flow that is not there, one whose id is taken.
async fn start(db: Db, number: u64, taken: RunId) -> What {
    let key = format!("key {}", number / 10);
    let started = match number % 10 {
        0 => db.start(unknown::Flow, &number).await.map(|run| (run.id(), run.is_new())),
        1 => db.start(other::Flow, &number).id(taken).await.map(|run| (run.id(), run.is_new())),
        2 | 3 => db.start(echo::Flow, &number).key(&key).await.map(|run| (run.id(), run.is_new())),
        _ => db.start(echo::Flow, &number).await.map(|run| (run.id(), run.is_new())),
    };
    match started {
        Ok((run, true)) => What::New(run),
        Ok((run, false)) => What::Old(run),
        Err(ClientError::Backend(BackendError::UnknownFlow { .. })) => What::UnknownFlow,
        Err(ClientError::Backend(BackendError::OtherFlow { .. })) => What::OtherFlow,
        Err(error) => panic!("{error:?}"),
    }
}

async fn start_all(fresh: &Fresh, numbers: impl Iterator<Item = u64>, taken: RunId) -> Vec<What> {
    let mut starts = JoinSet::new();
    for number in numbers {
        starts.spawn(start(fresh.db.clone(), number, taken));
    }
    starts.join_all().await
}

async fn each_start_gets_its_own_answer(fresh: Fresh) -> Outcome {
    fresh.db.register(echo::Flow).await?;
    fresh.db.register(other::Flow).await?;
    let taken = fresh.db.start(echo::Flow, &0).await?.id();
    // First without those that are refused, so that nothing disturbs those that go together.
    let good = start_all(&fresh, (0..200).filter(|number| number % 10 > 1), taken).await;
    let mixed = start_all(&fresh, 200..400, taken).await;
    let mut new = HashSet::new();
    for (wave, refusals) in [(good, 0), (mixed, 20)] {
        let count = |what: &What| wave.iter().filter(|found| *found == what).count();
        assert_eq!((count(&What::UnknownFlow), count(&What::OtherFlow)), (refusals, refusals));
        let news = wave
            .iter()
            .filter_map(|what| if let What::New(run) = what { Some(*run) } else { None });
        let news: HashSet<RunId> = news.collect();
        let olds =
            wave.iter().filter_map(|what| if let What::Old(run) = what { Some(run) } else { None });
        let olds: HashSet<&RunId> = olds.collect();
        assert_eq!((news.len(), olds.len()), (140, 20));
        assert!(olds.iter().all(|old| news.contains(old)), "the second of a key finds the first");
        new.extend(news);
    }
    assert_eq!(new.len(), 280, "no id was used twice");

    let working = fresh.work(echo::Flow).await?;
    for run in new {
        let run = fresh.db.get::<echo::Flow>(run).await?.ok_or("a run is missing")?;
        assert_eq!(run.wait().await?, RunStatus::Completed);
    }
    working.stop().await?;
    Ok(())
}

everywhere!(each_start_gets_its_own_answer);

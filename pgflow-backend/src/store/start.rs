//! Starting runs.

use std::sync::Arc;

use pgflow_machine::{NewRun, Start, Started};

use super::execute::{again, execute, tell};
use super::{Access, Session, Store, Stored};
use crate::backend::BackendError;
use crate::gathering::Asked;
use crate::weight::is_small;

/// In one transaction, which others wait for.
const MOST: usize = 100;

pub(super) async fn start<S: Store>(store: &S, new: NewRun) -> Stored<Started> {
    // Not later: others may be in front of it, who wait for the lock.
    store.check_free()?;
    match store.starts() {
        // An array is probably for a map: others are not to wait for its tasks, nor for something big.
        Some(starts) if !new.input.is_array() && is_small(&new.input) => {
            starts.send(new, MOST, |runs| start_all(store, runs)).await
        }
        _ => start_one(store, &new).await,
    }
}

async fn start_one<S: Store>(store: &S, run: &NewRun) -> Stored<Started> {
    one(start_together(store, std::slice::from_ref(run), |run| Some(run)).await?)
}

/// What nobody wants any more is not started.
async fn start_all<S: Store>(store: &S, runs: Vec<Asked<NewRun>>) -> Vec<Stored<Started>> {
    let error = match start_together(store, &runs, Asked::wanted).await {
        Ok(answers) => return answers,
        Err(error) => error,
    };
    if runs.len() == 1 {
        return vec![Err(error)];
    }
    if error.is_temporary() {
        return runs.iter().map(|_| Err(error.for_others())).collect();
    }
    // One of them is at fault: each is told about its own.
    let mut answers = Vec::new();
    for run in &runs {
        let answer = start_together(store, std::slice::from_ref(run), Asked::wanted).await;
        answers.extend(answer.unwrap_or_else(|error| vec![Err(error)]));
    }
    answers
}

type Answers = Vec<Stored<Started>>;

async fn start_together<S: Store, T: Sync>(
    store: &S,
    runs: &[T],
    wanted: fn(&T) -> Option<&NewRun>,
) -> Stored<Answers> {
    again!(store, try_together(store, runs, wanted))
}

/// Starts those that are still `wanted` when the transaction is there.
async fn try_together<S: Store, T: Sync>(
    store: &S,
    runs: &[T],
    wanted: fn(&T) -> Option<&NewRun>,
) -> Stored<Answers> {
    let mut session = store.begin(Access::Write).await?;
    let catalog = Arc::clone(session.catalog());
    let wanted: Vec<_> = runs.iter().map(wanted).collect();
    let runs = wanted.iter().copied().flatten().collect();
    let start = Start { runs, catalog, limits: store.limits() };
    let (answers, news) = execute(&mut session, &start).await?;
    store.commit(session).await?;
    tell(store, news).await;
    let mut answers = answers.into_iter();
    let answer = |run: Option<&NewRun>| match run.and_then(|_| answers.next()) {
        Some(answer) => Ok(answer?),
        None => Err(BackendError::Refused("nobody waits for it any more".into())),
    };
    Ok(wanted.into_iter().map(answer).collect())
}

/// Starts a run in a transaction that may write.
pub async fn start_in<S: Session>(
    session: &mut S,
    run: &NewRun,
    limits: pgflow_machine::Limits,
) -> Stored<Started> {
    let catalog = Arc::clone(session.catalog());
    let start = Start { runs: vec![run], catalog, limits };
    let (answers, _) = execute(session, &start).await?;
    one(answers.into_iter().map(|answer| Ok(answer?)).collect())
}

fn one(answers: Answers) -> Stored<Started> {
    let answer = answers.into_iter().next();
    answer.unwrap_or_else(|| Err(BackendError::Refused("a start has no answer".into())))
}

//! Steps that share the transaction which records their completion.

use pgflow_machine::{Settle, Settled, Verdict};
use pgflow_model::with_causes;

use super::attempt::{Attempt, failure};
use super::excuses::{excused, held_up};
use super::shared::Shared;
use crate::backend::BackendError;
use crate::tx::{Tx, TxSlot};
use crate::worker::Ended;
use crate::worker::excuses::Excuse;
use crate::{Error, Task};

/// Runs a step between the beginning of its transaction and the commit that records its completion.
pub(super) async fn run(attempt: &Attempt, shared: &Shared, task: Task) -> Ended {
    let tx = match shared.backend.begin(&attempt.task.lease.clone().into()).await {
        Ok(Some(tx)) => Tx(tx),
        Ok(None) => return Ended::Nothing,
        Err(error) => return held_up(shared, "begin", &with_causes(&error)),
    };
    let (scope, slot) = (tx.scope(), TxSlot::holding(tx));
    let (timeout, longest) = (attempt.task.timeout, scope.longest());
    let within = longest.map_or(timeout, |longest| timeout.min(longest));
    let verdict = attempt.verdict_of(&shared.limits, task.with_tx(slot.clone()), within);
    let (verdict, excuse) = scope.around(verdict).await;
    match (verdict, slot.take()) {
        (verdict @ Verdict::Completed(_), Some(tx)) => commit(attempt, shared, tx, verdict).await,
        (Verdict::Completed(_), None) => {
            failure(&Error::fatal("the step kept its transaction"), attempt.step)
        }
        (verdict, tx) => {
            if let Some(tx) = tx {
                tx.rollback().await;
            }
            let excused = match excuse {
                Some(excuse) => excused(attempt, shared, &excuse).await,
                None => None,
            };
            excused.unwrap_or(Ended::Verdict(verdict))
        }
    }
}

async fn commit(attempt: &Attempt, shared: &Shared, tx: Tx, verdict: Verdict) -> Ended {
    let settle = Settle { lease: attempt.task.lease.clone().into(), verdict };
    let error = match shared.backend.commit(tx.0, &settle).await {
        Ok(Settled::Unknown) => return Ended::Nothing,
        Ok(outcome) => {
            shared.excuses.recorded();
            return Ended::Recorded(outcome);
        }
        Err(error) => error,
    };
    let text = with_causes(&error);
    // If the commit got through, the task is over and giving it back changes nothing. If not, the transaction is gone
    // and the step must run again.
    match error {
        error if error.is_about_payload() => {
            failure(&Error::fatal(format!("the database refused the output: {text}")), attempt.step)
        }
        BackendError::NotCommitted(_)
        | BackendError::TransactionEnded
        | BackendError::Unsupported { .. } => failure(&Error::from(text), attempt.step),
        error => {
            let excuse = Excuse::of_commit(&error);
            let excused = excused(attempt, shared, &excuse).await;
            excused.unwrap_or_else(|| failure(&Error::from(excuse.error), attempt.step))
        }
    }
}

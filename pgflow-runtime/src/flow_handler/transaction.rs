//! Steps that share the transaction which records their completion.

use pgflow_machine::{Settle, Settled, Verdict};
use pgflow_model::with_causes;

use super::attempt::{Attempt, failure};
use super::excuses::{Excuse, excused, held_up, is_database_wide, is_read_only};
use super::shared::Shared;
use crate::backend::BackendError;
use crate::tx::{Tx, TxSlot};
use crate::worker::Ended;
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

/// What an error of a handler says, if it may not be the handler's fault, and the handler does not want it to be final.
pub(super) fn excuse(error: &Error) -> Option<Excuse> {
    let source = error.as_source();
    let is_excused = !error.retry().is_final() && is_database_wide(source);
    let may_be_lucky = !is_read_only(source);
    is_excused.then(|| Excuse { doing: "handler", error: error.to_string(), may_be_lucky })
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
            let may_be_lucky = error.is_temporary();
            let excuse = Excuse { doing: "commit", error: text, may_be_lucky };
            let excused = excused(attempt, shared, &excuse).await;
            excused.unwrap_or_else(|| failure(&Error::from(excuse.error), attempt.step))
        }
    }
}

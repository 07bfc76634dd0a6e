//! Steps that share the transaction which records their completion.

use pgflow_machine::{Settle, Settled, Verdict};

use super::attempt::{Attempt, Ended, failure};
use super::desk::Desk;
use super::trouble;
use crate::backend::BackendError;
use crate::tx::{Tx, TxSlot};
use crate::{Error, Task};

/// Runs a step between the beginning of its transaction and the commit that records its completion.
pub(super) async fn run(attempt: &Attempt, desk: &Desk, task: Task) -> Ended {
    let lease = &attempt.task.lease;
    let tx = match desk.backend.begin(lease).await {
        Ok(Some(tx)) => tx,
        Ok(None) => return Ended::Nothing,
        Err(error) => return given_back("open", &error),
    };
    let (scope, slot) = (tx.scope(), TxSlot::holding(tx));
    let verdict = attempt.verdict(&desk.limits, task.with_tx(slot.clone()));
    let verdict = scope.around(verdict).await;
    match (verdict, slot.take()) {
        (verdict @ Verdict::Completed(_), Some(tx)) => commit(attempt, desk, tx, verdict).await,
        (Verdict::Completed(_), None) => {
            failure(&Error::fatal("the step kept its transaction"), attempt.step)
        }
        (verdict, tx) => {
            if let Some(tx) = tx {
                tx.rollback().await;
            }
            Ended::Verdict(verdict)
        }
    }
}

async fn commit(attempt: &Attempt, desk: &Desk, tx: Tx, verdict: Verdict) -> Ended {
    let settle = Settle { lease: attempt.task.lease.clone(), verdict };
    match desk.backend.commit(tx, &settle).await {
        Ok(Settled::Unknown) => Ended::Nothing,
        Ok(outcome) => Ended::Recorded(outcome),
        // If the commit got through, the task is over and this changes nothing. If not, the transaction is gone
        // and the step must run again.
        Err(error) if error.is_temporary() => given_back("commit", &error),
        Err(error) => failure(&Error::from(trouble::text(&error)), attempt.step),
    }
}

fn given_back(doing: &'static str, error: &BackendError) -> Ended {
    tracing::warn!(doing, error = %trouble::text(error), "no transaction: giving the task back");
    Ended::Verdict(Verdict::Released)
}

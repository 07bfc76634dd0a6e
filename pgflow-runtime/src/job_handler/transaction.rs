//! Needs that share the transaction which records how their attempt ended.

use pgflow_backend::tx::StepTx;
use pgflow_machine::job::{JobEnd, JobHold, JobRetry, JobSettle, JobSettled, JobVerdict, NewJob};
use pgflow_machine::permit::MessageSettle;
use pgflow_machine::{Settled, Verdict};
use pgflow_model::with_causes;
use tokio::time::timeout;

use super::attempt::{Attempt, end, message_end};
use crate::backend::BackendError;
use crate::tx::{Tx, TxSlot};
use crate::worker::excuses::Excuse;
use crate::worker::{Ended, tidy};

/// Runs a need between the beginning of its transaction and the commit that records its end.
pub(super) async fn run(attempt: &Attempt) -> Ended {
    let hold = attempt.job.taken.hold.clone();
    let tx = match begin(attempt, &hold).await {
        Ok(Some(tx)) => Tx(tx),
        Ok(None) => return Ended::Nothing,
        Err(error) => return attempt.excuses.held_up("begin", &with_causes(&error)).await,
    };
    let (scope, slot) = (tx.scope(), TxSlot::holding(tx));
    let longest = scope.longest();
    let call = scope.around(attempt.called(Some(slot.clone())));
    let ((verdict, submits), excuse) = match longest {
        Some(longest) => {
            timeout(longest, call).await.unwrap_or_else(|_| (attempt.too_long(longest), None))
        }
        None => call.await,
    };
    let is_well = matches!(verdict, JobVerdict::Finished(_) | JobVerdict::HandedOver(_));
    match slot.take() {
        Some(tx) if is_well => commit(attempt, tx, JobSettle { hold, verdict, submits }).await,
        None if is_well => {
            let error = "the need kept its transaction".to_owned();
            failed(&error, JobRetry::Never)
        }
        tx => {
            if let Some(tx) = tx {
                tx.rollback().await;
            }
            excused(attempt, excuse.as_ref()).await.unwrap_or_else(|| end(verdict, submits))
        }
    }
}

async fn begin(attempt: &Attempt, hold: &JobHold) -> Result<Option<StepTx>, BackendError> {
    if attempt.permits().is_some() {
        return attempt.backend.pipelines()?.begin_messages(std::slice::from_ref(hold)).await;
    }
    attempt.backend.jobs()?.begin_job(hold).await
}

/// Records the end, with what is free again then if the need held something.
async fn record(attempt: &Attempt, tx: Tx, settle: JobSettle) -> Result<JobSettled, BackendError> {
    let by = attempt.worker();
    let Some(lease) = attempt.permits() else {
        return attempt.backend.jobs()?.commit_job(tx.0, &settle, by).await;
    };
    let JobSettle { hold, verdict, submits } = settle;
    let end = message_end(JobEnd { verdict, submits });
    let settles = [MessageSettle { hold, need: lease.need.clone(), end }];
    let answers = attempt.backend.pipelines()?.commit_messages(tx.0, &settles, by).await?;
    Ok(answers.into_iter().next().unwrap_or(JobSettled::Unknown))
}

/// Gives the job back if that is not its fault: no attempt is used up.
async fn excused(attempt: &Attempt, excuse: Option<&Excuse>) -> Option<Ended> {
    let (backend, lease) = (&attempt.backend, attempt.lease.clone());
    let is_excused = attempt.excuses.is_excused(backend, lease, excuse?).await;
    is_excused.then_some(Ended::Verdict(Verdict::Released))
}

fn failed(error: &str, retry: JobRetry) -> Ended {
    end(JobVerdict::Failed { error: tidy(error), retry }, Vec::<NewJob>::new())
}

async fn commit(attempt: &Attempt, tx: Tx, settle: JobSettle) -> Ended {
    let error = match record(attempt, tx, settle).await {
        Ok(JobSettled::Applied) => {
            attempt.excuses.recorded(&attempt.lease);
            return Ended::Recorded(Settled::Applied);
        }
        Ok(JobSettled::Fenced) => return Ended::Recorded(Settled::Fenced),
        Ok(JobSettled::AlreadySettled) => return Ended::Recorded(Settled::AlreadySettled),
        Ok(JobSettled::Unknown) => return Ended::Nothing,
        // What was written is undone, so the job is not finished: it ends as cancelled.
        Ok(JobSettled::Cancelled) => return Ended::Verdict(Verdict::Released),
        Ok(JobSettled::Refused(problem)) => {
            let error = format!("what comes next cannot be: {problem}");
            return failed(&error, JobRetry::Never);
        }
        Err(error) => error,
    };
    let text = with_causes(&error);
    // If the commit got through, the lease is settled and giving it back changes nothing. If not, the transaction is gone and
    // the need must run again.
    match error {
        error if error.is_about_payload() => {
            failed(&format!("the database refused what comes next: {text}"), JobRetry::Never)
        }
        BackendError::NotCommitted(_)
        | BackendError::TransactionEnded
        | BackendError::Unsupported { .. } => failed(&text, attempt.retry()),
        error => {
            let excused = excused(attempt, Some(&Excuse::of_commit(&error))).await;
            excused.unwrap_or_else(|| failed(&text, attempt.retry()))
        }
    }
}

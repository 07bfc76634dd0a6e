//! Attempts that share the transaction which settles them, and what is done when messages die in it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use pgflow_machine::job::{JobHold, JobProblem, JobRetry, JobRow, JobSettled, JobVerdict};
use pgflow_machine::permit::{MessageEnd, MessageLease, MessageSettle};
use pgflow_machine::{Lease, Limits, Settled, Verdict};
use pgflow_model::with_causes;
use tokio::time::timeout;

use super::OnFailure;
use super::code::{BoxFuture, StageCode, Work, Worked, caught};
use super::dead::{DeadMessage, OnDead, why_dead};
use crate::backend::{Backend, BackendError, ClaimedJob};
use crate::job_handler::JobExcuses;
use crate::tx::{Lent, Tx, TxSlot};
use crate::worker::excuses::Excuse;
use crate::worker::{Ended, panic_text, tidy};
use crate::{Error, Result};

/// How a stage works on what was claimed for one attempt.
#[derive(Clone)]
pub(crate) struct StageWork {
    pub(crate) code: StageCode,
    pub(crate) takes_tx: bool,
    pub(crate) on_dead: Option<OnDead>,
    pub(crate) on_failure: OnFailure,
    /// What payloads may be.
    pub(crate) limits: Limits,
}

/// Where transactions come from.
pub(crate) trait Opens: Send + Sync {
    /// A transaction, if all of these leases hold.
    fn open(&self, holds: Vec<JobHold>) -> BoxFuture<Result<Option<Tx>, BackendError>>;

    /// Whether this is no fault of the attempt, which has waited then and is given back. A simulated database is never in trouble.
    fn is_excused(&self, _excuse: Excuse) -> BoxFuture<bool> {
        Box::pin(async { false })
    }
}

/// What an attempt led to.
pub(crate) enum Made {
    /// Ends of its messages, with the transaction that they are part of if there is one.
    Ends(Vec<MessageEnd>, Option<Tx>),
    /// The database is in trouble: no attempt is used up.
    Excused,
    /// One of its leases was gone before anything happened.
    Lost,
}

impl StageWork {
    /// Works on what was claimed for one attempt.
    pub(crate) async fn make(&self, work: Work, opens: &dyn Opens) -> Result<Made, BackendError> {
        let holds = work.claimed.lease.holds.clone();
        let messages = work.claimed.messages.clone();
        let (ends, tx) = if self.takes_tx {
            let Some(tx) = opens.open(holds.clone()).await? else { return Ok(Made::Lost) };
            let (worked, tx) = self.work_in(tx, work).await;
            if let Some(excuse) = worked.excuse
                && opens.is_excused(excuse).await
            {
                return Ok(Made::Excused);
            }
            (worked.ends, tx)
        } else {
            (self.worked(work).await.ends, None)
        };
        let (ends, tx) = self.refused(ends, tx, &holds).await;
        let (Some(on_dead), true) = (&self.on_dead, any_dies(&ends, &messages)) else {
            return Ok(Made::Ends(ends, tx));
        };
        let tx = match tx {
            Some(tx) => tx,
            None => match opens.open(holds).await? {
                Some(tx) => tx,
                None => return Ok(Made::Lost),
            },
        };
        Ok(match bury(on_dead, &ends, &messages, tx).await {
            Ok(tx) => Made::Ends(ends, tx),
            Err(error) => self.not_buried(&error, ends, &messages, opens).await,
        })
    }

    /// What was to be done for the dead has failed, and what was written with it is undone: unless that is excused they are dead
    /// without it, and of the others nothing counts that was to be written with it.
    async fn not_buried(
        &self,
        error: &Error,
        ends: Vec<MessageEnd>,
        messages: &[ClaimedJob],
        opens: &dyn Opens,
    ) -> Made {
        if let Some(excuse) = Excuse::of_handler(error)
            && opens.is_excused(excuse).await
        {
            return Made::Excused;
        }
        let failure = tidy(&with_causes(error.as_source()));
        tracing::error!(error = failure, "on_dead failed: messages are dead without it");
        let end =
            |(end, message): (MessageEnd, &ClaimedJob)| match why_dead(&end, &message.taken.row) {
                Some(why) => dead(&format!("{why}; on_dead: {failure}")),
                None if self.takes_tx => JobVerdict::Released.into(),
                None => end,
            };
        Made::Ends(ends.into_iter().zip(messages).map(end).collect(), None)
    }

    /// What came of its code. Whatever else of the application's panics, such as a key of a batch, is a failure like those of its
    /// functions.
    async fn worked(&self, work: Work) -> Worked {
        let rows = rows(&work);
        let worked = AssertUnwindSafe((self.code)(work)).catch_unwind().await;
        worked.unwrap_or_else(|panic| self.failed(&panic_text(panic), &rows))
    }

    /// All of these messages have failed.
    fn failed(&self, error: &str, rows: &[JobRow]) -> Worked {
        let ends = all_failed(rows, self.on_failure, error);
        Worked { ends, is_well: false, excuse: None }
    }

    /// Lets messages die whose ends would be refused: here, so that what is to be done for the dead is done for them too. What was
    /// written in a transaction is undone then, and the others are given back.
    async fn refused(
        &self,
        ends: Vec<MessageEnd>,
        tx: Option<Tx>,
        holds: &[JobHold],
    ) -> (Vec<MessageEnd>, Option<Tx>) {
        let problem =
            |(end, hold): (&MessageEnd, &JobHold)| end.check(&hold.job, &self.limits).err();
        let problems: Vec<_> = ends.iter().zip(holds).map(problem).collect();
        if problems.iter().all(Option::is_none) {
            return (ends, tx);
        }
        let is_shared = tx.is_some();
        if let Some(tx) = tx {
            tx.rollback().await;
        }
        let end = |(end, problem)| match problem {
            Some(problem) => dead(&not_possible(&problem)),
            None if is_shared => JobVerdict::Released.into(),
            None => end,
        };
        (ends.into_iter().zip(problems).map(end).collect(), None)
    }

    /// Works in a transaction, which is undone unless what was written counts.
    async fn work_in(&self, tx: Tx, work: Work) -> (Worked, Option<Tx>) {
        let cancel = work.context.cancel.clone();
        let rows = rows(&work);
        let (scope, slot) = (tx.scope(), TxSlot::holding(tx));
        let longest = scope.longest();
        let call = scope.around(self.worked(Work { tx: Some(slot.clone()), ..work }));
        let worked = match longest {
            Some(longest) => timeout(longest, call).await.unwrap_or_else(|_| {
                cancel.set();
                let error = format!("the function kept its transaction for more than {longest:?}");
                self.failed(&error, &rows)
            }),
            None => call.await,
        };
        match slot.take() {
            Some(tx) if worked.is_well => (worked, Some(tx)),
            None if worked.is_well => {
                let kept = "the function kept its transaction";
                (Worked { ends: rows.iter().map(|_| dead(kept)).collect(), ..worked }, None)
            }
            tx => {
                if let Some(tx) = tx {
                    tx.rollback().await;
                }
                (worked, None)
            }
        }
    }
}

fn any_dies(ends: &[MessageEnd], messages: &[ClaimedJob]) -> bool {
    ends.iter().zip(messages).any(|(end, message)| why_dead(end, &message.taken.row).is_some())
}

/// Does what is to be done for messages that die. If that fails, what was written is undone.
async fn bury(
    on_dead: &OnDead,
    ends: &[MessageEnd],
    messages: &[ClaimedJob],
    tx: Tx,
) -> Result<Option<Tx>> {
    let (scope, slot) = (tx.scope(), TxSlot::holding(tx));
    for (end, message) in ends.iter().zip(messages) {
        let Some(why) = why_dead(end, &message.taken.row) else { continue };
        let buried = caught(async {
            let mut lent =
                Lent::new(&slot).ok_or_else(|| Error::fatal("its transaction is gone"))?;
            let done = on_dead(DeadMessage::of(message), why.to_owned(), lent.get()).await;
            lent.give_back();
            done
        });
        if let Err(error) = scope.clone().around(buried).await {
            if let Some(tx) = slot.take() {
                tx.rollback().await;
            }
            return Err(error);
        }
    }
    Ok(slot.take())
}

fn rows(work: &Work) -> Vec<JobRow> {
    work.claimed.messages.iter().map(|message| message.taken.row.clone()).collect()
}

fn failed(on_failure: OnFailure, error: &str, row: &JobRow) -> MessageEnd {
    on_failure.end(error, JobRetry::later(1, row.failures), row)
}

fn not_possible(problem: &JobProblem) -> String {
    format!("what comes next cannot be: {problem}")
}

fn dead(error: &str) -> MessageEnd {
    JobVerdict::Failed { error: tidy(error), retry: JobRetry::Never }.into()
}

/// Transactions of a database, for one attempt.
struct Database {
    backend: Arc<dyn Backend>,
    lease: MessageLease,
    excuses: Arc<JobExcuses>,
}

impl Opens for Database {
    fn open(&self, holds: Vec<JobHold>) -> BoxFuture<Result<Option<Tx>, BackendError>> {
        let backend = self.backend.clone();
        Box::pin(async move {
            let opened = backend.pipelines()?.begin_messages(&holds).await?;
            Ok(opened.map(Tx))
        })
    }

    fn is_excused(&self, excuse: Excuse) -> BoxFuture<bool> {
        let (backend, excuses) = (self.backend.clone(), self.excuses.clone());
        let lease = Lease::Messages(self.lease.clone());
        Box::pin(async move { excuses.is_excused(&backend, lease, &excuse).await })
    }
}

/// Makes an attempt at what was claimed, and settles it if it has a transaction for that. What comes of it is `said`.
pub(super) async fn attempt(
    stage: &StageWork,
    work: Work,
    backend: Arc<dyn Backend>,
    excuses: Arc<JobExcuses>,
    said: &(dyn Fn(&[MessageEnd]) + Sync),
) -> Ended {
    let (rows, on_failure) = (rows(&work), stage.on_failure);
    let lease = work.claimed.lease.clone();
    let database = Database { backend, lease, excuses };
    match stage.make(work, &database).await {
        Ok(Made::Ends(ends, None)) => {
            said(&ends);
            Ended::Verdict(Verdict::Messages(ends))
        }
        Ok(Made::Ends(ends, Some(tx))) => {
            let settles = settles(&database.lease, ends.clone());
            let ended = database.commit(tx, &settles, &rows, on_failure).await;
            match &ended {
                Ended::Recorded(Settled::Applied) => said(&ends),
                Ended::Verdict(Verdict::Messages(ends)) => said(ends),
                _ => {}
            }
            ended
        }
        // Those that are still ours are given back.
        Ok(Made::Lost | Made::Excused) => Ended::Verdict(Verdict::Released),
        Err(error) => database.excuses.held_up("begin", &with_causes(&error)).await,
    }
}

/// What is said of each message of an attempt.
pub(crate) fn settles(lease: &MessageLease, ends: Vec<MessageEnd>) -> Vec<MessageSettle> {
    let settle = |(hold, end)| MessageSettle { hold, need: lease.need.clone(), end };
    lease.holds.iter().cloned().zip(ends).map(settle).collect()
}

impl Database {
    async fn commit(
        &self,
        tx: Tx,
        settles: &[MessageSettle],
        rows: &[JobRow],
        on_failure: OnFailure,
    ) -> Ended {
        let worker =
            rows.first().and_then(|row| row.lease.as_ref()).map(|lease| lease.worker.as_str());
        let committed = match self.backend.pipelines() {
            Ok(queues) => queues.commit_messages(tx.0, settles, worker.unwrap_or("worker")).await,
            Err(error) => Err(error),
        };
        match committed {
            Ok(answers) => {
                let ended = outcome(&answers);
                if matches!(ended, Ended::Recorded(Settled::Applied)) {
                    self.excuses.recorded(&Lease::Messages(self.lease.clone()));
                }
                ended
            }
            Err(error) => self.not_committed(&error, rows, on_failure).await,
        }
    }

    /// If the commit got through, the leases are settled and giving them back changes nothing. If not, the transaction is gone
    /// and the function must run again.
    async fn not_committed(
        &self,
        error: &BackendError,
        rows: &[JobRow],
        on_failure: OnFailure,
    ) -> Ended {
        let text = with_causes(error);
        let ends = match error {
            error if error.is_about_payload() => {
                let error = format!("the database refused what comes next: {text}");
                rows.iter().map(|_| dead(&error)).collect()
            }
            BackendError::NotCommitted(_)
            | BackendError::TransactionEnded
            | BackendError::Unsupported { .. } => all_failed(rows, on_failure, &text),
            error if self.is_excused(Excuse::of_commit(error)).await => {
                return Ended::Verdict(Verdict::Released);
            }
            _ => all_failed(rows, on_failure, &text),
        };
        Ended::Verdict(Verdict::Messages(ends))
    }
}

fn all_failed(rows: &[JobRow], on_failure: OnFailure, error: &str) -> Vec<MessageEnd> {
    rows.iter().map(|row| failed(on_failure, error, row)).collect()
}

/// What became of an attempt in a transaction: all of it, or nothing. Messages that are still ours are given back then, but not
/// one that cannot end as it was said.
fn outcome(answers: &[JobSettled]) -> Ended {
    let all = |of: JobSettled| answers.iter().all(|answer| *answer == of);
    if all(JobSettled::Applied) {
        return Ended::Recorded(Settled::Applied);
    }
    if all(JobSettled::Fenced) {
        return Ended::Recorded(Settled::Fenced);
    }
    if all(JobSettled::AlreadySettled) {
        return Ended::Recorded(Settled::AlreadySettled);
    }
    let end = |answer: &JobSettled| match answer {
        JobSettled::Refused(problem) => dead(&not_possible(problem)),
        _ => JobVerdict::Released.into(),
    };
    Ended::Verdict(Verdict::Messages(answers.iter().map(end).collect()))
}

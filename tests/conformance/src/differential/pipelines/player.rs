//! Plays commands on a database, and says what it answers in words that do not depend on the database.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{
    HandOver, JobHold, JobId, JobRetry, JobToken, JobVerdict, Moment, NewJob,
};
use pgflow_machine::permit::{
    BatchRule, Columns, Message, MessageEnd, MessageSettle, Rate, Stage, Units,
};
use pgflow_runtime::backend::{
    Backend, BackendError, ClaimedBatch, JobStanding, Jobs, Pipelines, StageClaim,
};
use serde_json::json;
use uuid::Uuid;

use super::command::{Command, Draft, End, Hold, MESSAGES, RESOURCES, Take, Verdict};
use crate::differential::blind::Plays;
use crate::subject::Database;

/// How long leases last.
const LEASE: Duration = Duration::from_secs(4_000);

/// How long batches wait.
const WAIT: Duration = Duration::from_mins(50);

pub(super) struct Player<'d> {
    database: &'d dyn Database,
    backend: Arc<dyn Backend>,
    prefix: String,
    /// Tokens of each message's claims, the oldest first.
    tokens: HashMap<JobId, Vec<JobToken>>,
}

impl Plays<Command> for Player<'_> {
    async fn play(&mut self, command: &Command) -> String {
        let played = self.try_play(command).await;
        // Which batch is the older one matters. Real clocks go on by themselves, that of SQLite by milliseconds.
        match self.backend.name() {
            "memory" => self.database.advance_jobs(&self.prefix, Duration::from_millis(1)).await,
            "sqlite" => tokio::time::sleep(Duration::from_millis(2)).await,
            _ => {}
        }
        let text = played.unwrap_or_else(|error| format!("error: {error}"));
        text.replace(&self.prefix, "")
    }

    async fn end(&self) {
        self.database.advance_jobs(&self.prefix, LEASE * 2).await;
        let all: Vec<_> = (0..MESSAGES).map(|number| self.id(number)).collect();
        self.jobs().cancel_jobs(&all, "me", None).await.expect("jobs can be cancelled");
    }
}

impl<'d> Player<'d> {
    pub(super) fn new(database: &'d dyn Database) -> Self {
        let (prefix, tokens) = (format!("d{}.", Uuid::now_v7().simple()), HashMap::new());
        Self { database, backend: database.backend(), prefix, tokens }
    }

    fn jobs(&self) -> &dyn Jobs {
        self.backend.jobs().expect("jobs")
    }

    fn queues(&self) -> &dyn Pipelines {
        self.backend.pipelines().expect("pipelines")
    }

    async fn try_play(&mut self, command: &Command) -> Result<String, BackendError> {
        let queues = self.queues();
        Ok(match command {
            Command::Push(drafts) => {
                let new: Vec<_> = drafts.iter().map(|draft| self.message(draft)).collect();
                format!("{:?}", queues.push(&new, "client").await?)
            }
            Command::Claim(take) => self.claim(take).await?,
            Command::Settle(settles) => {
                let settle = |(hold, end): &(Hold, End)| MessageSettle {
                    hold: self.hold(*hold),
                    need: self.name("q", 0),
                    end: self.ending(end),
                };
                let settles: Vec<_> = settles.iter().map(settle).collect();
                format!("{:?}", queues.settle_messages(&settles, "worker").await?)
            }
            Command::Capacity(resource, capacity) => {
                format!("{:?}", queues.set_capacity(&self.name("r", *resource), *capacity).await?)
            }
            Command::Rate(amount, burst) => {
                let rate = Rate::per_hour(*amount).burst(*burst);
                format!("{:?}", queues.set_rate(&self.name("rate", 0), rate).await?)
            }
            Command::Declare(amount) => {
                format!("{:?}", self.declare(*amount, [(self.name("r", 0), *amount)].into()).await?)
            }
            Command::Drop(numbers) => {
                format!("{:?}", queues.drop_dead(&self.ids(numbers)).await?)
            }
            Command::Redrive(numbers) => {
                let spacing = Duration::from_secs(1_000);
                format!("{:?}", self.jobs().redrive_jobs(&self.ids(numbers), "me", spacing).await?)
            }
            Command::Cancel(number) => {
                format!("{:?}", self.jobs().cancel_jobs(&[self.id(*number)], "me", None).await?)
            }
            Command::Advance(seconds) => {
                self.database.advance_jobs(&self.prefix, Duration::from_secs(*seconds)).await;
                String::new()
            }
            Command::Sweep => format!("{:?}", self.jobs().sweep_jobs().await?),
            Command::Look => self.look().await?,
        })
    }

    async fn claim(&mut self, take: &Take) -> Result<String, BackendError> {
        if take.has_rate {
            // A claim that is refused need not notice what time it is.
            self.declare(1, Units::new()).await?;
        }
        let rule = |(len, bytes): (u32, Option<u64>)| BatchRule { len, bytes, wait: WAIT };
        let stage = Stage {
            batch: take.batch.map(rule),
            resources: self.units(take.resource),
            rates: take.has_rate.then(|| self.name("rate", 0)).into_iter().collect(),
            drains: take.drains,
            ..Stage::default()
        };
        let claim = StageClaim::new("worker", &self.name("q", take.queue), take.max);
        let claimed =
            self.queues().claim_stage(&StageClaim { lease: LEASE, stage, ..claim }).await?;
        // When the next may be had is a moment; whether it is known is not.
        let mut text = format!("next: {}", claimed.next_in.is_some());
        for batch in claimed.batches {
            let _ = write!(text, "; {:?} {:?}", batch.trigger, batch.fences);
            self.take(batch, &mut text);
        }
        Ok(text)
    }

    async fn declare(&self, amount: u32, resources: Units) -> Result<(), BackendError> {
        let rates = [(self.name("rate", 0), Rate::per_hour(amount).burst(2))].into();
        self.queues().declare(&rates, &resources).await
    }

    fn take(&mut self, batch: ClaimedBatch, text: &mut String) {
        for message in batch.messages {
            let JobHold { job, token } = message.taken.hold;
            let row = &message.taken.row;
            let _ = write!(text, " {job} {} {} {}", row.attempts, row.priority, message.payload);
            self.tokens.entry(job).or_default().push(token);
        }
    }

    /// All that people can see.
    async fn look(&self) -> Result<String, BackendError> {
        let mut text = String::new();
        for number in 0..MESSAGES {
            let Some(record) = self.jobs().job(&self.id(number)).await? else { continue };
            let (summary, row) = (&record.summary, &record.summary.row);
            let counts = (row.attempts, row.forgiven, row.failures, row.lapses, row.streak);
            let facts = (&row.need, row.priority, &row.key, row.max_attempts);
            let is_over = matches!(summary.standing, JobStanding::Ended(_));
            let error = summary.error.as_ref().filter(|_| is_over);
            let _ = write!(
                text,
                "\n{number} {} {facts:?} {counts:?} {error:?} {} {:?}",
                summary.standing, record.payload, record.output
            );
        }
        for resource in 0..RESOURCES {
            let found = self.queues().resource(&self.name("r", resource)).await?;
            let _ = write!(text, "\nresource {resource}: {found:?}");
        }
        let rate = self.queues().rate(&self.name("rate", 0)).await?;
        let _ = write!(text, "\nrate: {:?}", rate.map(|bucket| (bucket.rate, bucket.declared)));
        Ok(text)
    }

    fn name(&self, kind: &str, number: usize) -> String {
        format!("{}{kind}{number}", self.prefix)
    }

    fn id(&self, number: usize) -> JobId {
        self.name("m", number).parse().expect("a name")
    }

    fn ids(&self, numbers: &[usize]) -> Vec<JobId> {
        numbers.iter().map(|number| self.id(*number)).collect()
    }

    fn units(&self, resource: Option<(usize, u32)>) -> Units {
        resource.map(|(number, units)| (self.name("r", number), units)).into_iter().collect()
    }

    fn message(&self, draft: &Draft) -> Message {
        let job = NewJob {
            key: draft.key.map(|key| self.name("k", key)),
            wake: draft.wake.map(seconds),
            max_attempts: Some(3),
            ..NewJob::new(
                self.id(draft.message),
                self.name("q", draft.queue),
                json!("x".repeat(draft.size)),
            )
        };
        let batch_key = draft.batch_key.map(|key| self.name("b", key));
        let columns = Columns { batch_key, resources: self.units(draft.resource) };
        Message { job, fair: draft.fair.map(|fair| self.name("f", fair)), columns }
    }

    fn hold(&self, hold: Hold) -> JobHold {
        let job = self.id(hold.message);
        let tokens = self.tokens.get(&job).map_or(&[][..], Vec::as_slice);
        let token = tokens.iter().rev().nth(hold.ago).cloned();
        // A token that there never was.
        JobHold { token: token.unwrap_or_else(|| JobToken(Uuid::nil().to_string())), job }
    }

    fn ending(&self, end: &End) -> MessageEnd {
        let verdict = match &end.verdict {
            Verdict::Finish => JobVerdict::Finished(json!("done")),
            Verdict::Fail(delay) => {
                let after = |delay: &u64| JobRetry::After(Duration::from_secs(*delay));
                let retry = delay.as_ref().map_or(JobRetry::Never, after);
                JobVerdict::Failed { error: "no".into(), retry }
            }
            Verdict::HandOver { queue, frees_key, wake } => JobVerdict::HandedOver(HandOver {
                frees_key: *frees_key,
                wake: wake.map(seconds),
                max_attempts: Some(2),
                ..HandOver::to(self.name("q", *queue))
            }),
            Verdict::Release => JobVerdict::Released,
        };
        MessageEnd {
            verdict,
            emits: end.emits.iter().map(|draft| self.message(draft)).collect(),
            batch_key: end.batch_key.map(|key| self.name("b", key)),
            blocks: end.blocks,
        }
    }
}

fn seconds(seconds: u64) -> Moment {
    Moment::In(Duration::from_secs(seconds))
}

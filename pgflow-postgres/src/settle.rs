//! Ending attempts.

use pgflow_machine::{Settle, Settled, settle_rounds};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::batch::{Batch, Leases};
use super::claim::{Handout, Room, is_some};
use super::ended::ended;
use super::engine::Lane;
use super::error::{code, translate, unexpected};
use super::jobs::ready_needs;
use super::open::Postgres;
use super::unstorable::replace_unstorable;
use pgflow_backend::backend::{BackendError, Claim, Settlement, Source};

const SETTLE: &str = concat!(
    "select kind, outcome, flow_slug, run_id, step_slug, task_index, attempt, input, timeout, ",
    ready_needs!(),
    " from pgflow.settle_and_claim(
         $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)"
);
const RELEASE: &str = "select outcome from pgflow.yield_tasks($1, $2, $3, $4, $5, $6)";

const GIVE_UP: &str = "select pgflow.give_up_holds($1, $2, $3, $4) as freed";

const RESUME: &str = "select pgflow.resume_tasks($1) as resumed";

/// What became of a batch: outcomes with the positions they are for, and new tasks.
#[derive(Default)]
struct Answer {
    outcomes: Vec<(usize, Settled)>,
    claimed: Vec<Handout>,
}

impl Postgres {
    pub(super) async fn settle_tasks(
        &self,
        settles: &[Settle],
        next: Option<&Claim>,
    ) -> Result<Settlement, BackendError> {
        let next = next.filter(|next| is_some(next));
        let settled = vec![Settled::Unknown; settles.len()];
        let mut work = Settlement { settled, ..Settlement::default() };
        let rounds = settle_rounds(settles);
        for (nth, round) in rounds.iter().enumerate() {
            let is_last = nth + 1 == rounds.len();
            self.settle_round(settles, round, next.filter(|_| is_last), &mut work).await?;
        }
        if let Some(next) = next.filter(|_| rounds.is_empty()) {
            work.claimed = self.claim_tasks(next).await?;
        }
        self.ring_for(settles, &work.settled);
        self.give_up_holds(settles, &work.settled).await;
        Ok(work)
    }

    /// Attempts that ended after their steps or runs hold nothing any more. Nearly always there are none. If it fails, their holds lapse
    /// later: what was settled and claimed is committed, and counts.
    pub(crate) async fn give_up_holds(&self, settles: &[Settle], settled: &[Settled]) {
        if let Err(error) = self.try_to_give_up_holds(settles, settled).await {
            tracing::warn!(%error, "resources of attempts that came too late are held a little longer");
        }
    }

    async fn try_to_give_up_holds(
        &self,
        settles: &[Settle],
        settled: &[Settled],
    ) -> Result<(), BackendError> {
        let mut late = Leases::default();
        for (settle, outcome) in settles.iter().zip(settled) {
            let is_late = matches!(outcome, Settled::RunEnded | Settled::AlreadySettled);
            if let Some(lease) = settle.lease.task().filter(|_| is_late) {
                late.push(lease);
            }
        }
        if late.len() == 0 {
            return Ok(());
        }
        let statement = || late.bind(sqlx::query(GIVE_UP));
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        for row in rows {
            let freed: Vec<String> = row.try_get("freed").map_err(translate)?;
            for resource in &freed {
                self.bell.ring_permit(resource);
            }
        }
        Ok(())
    }

    /// Completions and failures go with the claim. Releases and waits, which are rare, come on their own and before it:
    /// what is claimed now is not what was released.
    async fn settle_round(
        &self,
        settles: &[Settle],
        round: &[usize],
        next: Option<&Claim>,
        work: &mut Settlement,
    ) -> Result<(), BackendError> {
        let batch = Batch::new(settles, round);
        let comes_later = batch.releases.leases.len() + batch.waits.leases.len() > 0;
        if batch.settles_any() {
            let next = next.filter(|_| !comes_later);
            let answer = self.settle_batch(&batch, settles, round, next).await?;
            work.claimed.tasks = self.hand_on(answer.claimed).await?;
            for (position, outcome) in answer.outcomes {
                work.settled[position] = outcome;
            }
        }
        if batch.releases.leases.len() > 0 {
            for (position, outcome) in batch.released().zip(self.release(&batch).await?) {
                work.settled[position] = outcome;
            }
        }
        if batch.waits.leases.len() > 0 {
            for (position, outcome) in batch.waited().zip(self.begin_waits(&batch.waits).await?) {
                work.settled[position] = outcome;
            }
        }
        if let Some(next) = next.filter(|_| comes_later) {
            work.claimed = self.claim_tasks(next).await?;
        }
        Ok(())
    }

    async fn settle_batch(
        &self,
        batch: &Batch<'_>,
        settles: &[Settle],
        round: &[usize],
        next: Option<&Claim>,
    ) -> Result<Answer, BackendError> {
        let error = match self.settle_once(batch, next).await {
            Ok(rows) => {
                self.wake_after(&rows).await;
                return self.read(batch, &rows);
            }
            Err(error) => error,
        };
        // One output that can't be stored must not hold up the others for ever.
        if !matches!(code(&error).as_deref(), Some("54000" | "22P05" | "54001")) {
            return Err(translate(error));
        }
        let limits = self.read_limits().await?;
        let Some(replaced) = replace_unstorable(settles, round, &limits) else {
            return Err(translate(error));
        };
        let batch = Batch::new(&replaced, round);
        let rows = self.settle_once(&batch, next).await.map_err(translate)?;
        self.wake_after(&rows).await;
        self.read(&batch, &rows)
    }

    async fn settle_once(
        &self,
        batch: &Batch<'_>,
        next: Option<&Claim>,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let room = next.map_or(Room::NONE, Room::of);
        let statement = || {
            let statement = batch.completions.bind(sqlx::query(SETTLE));
            room.bind(batch.failures.bind(statement))
        };
        self.as_worker(next, statement).await
    }

    fn read(&self, batch: &Batch<'_>, rows: &[PgRow]) -> Result<Answer, BackendError> {
        // Jobs may have waited for runs that ended.
        self.ring_for_ready(rows)?;
        let mut answer = Answer::default();
        let mut positions = batch.settled();
        for row in rows {
            match row.try_get("kind").map_err(translate)? {
                "claimed" => answer.claimed.push(self.read_task(row).map_err(translate)?),
                "ended" => ended(row, "outcome", "input")?.announce(),
                _ => answer.outcomes.extend(positions.next().zip(Some(outcome_of(row)?))),
            }
        }
        Ok(answer)
    }

    pub(super) async fn settle_unreadable(&self, settles: &[Settle]) -> Result<(), BackendError> {
        let all: Vec<_> = (0..settles.len()).collect();
        let batch = Batch::new(settles, &all);
        self.settle_once(&batch, None).await.map_err(translate)?;
        self.ring_for(settles, &vec![Settled::Applied; settles.len()]);
        Ok(())
    }

    async fn release(&self, batch: &Batch<'_>) -> Result<Vec<Settled>, BackendError> {
        let statement = || batch.releases.bind(sqlx::query(RELEASE));
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        rows.iter().map(outcome_of).collect()
    }

    pub(super) async fn resume_tasks(&self, sources: &[Source]) -> Result<u64, BackendError> {
        let queues: Vec<_> = sources.iter().filter_map(Source::as_queue).collect();
        let statement = || sqlx::query(RESUME).bind(&queues);
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        let resumed = rows.first().map(|row| row.try_get::<i64, _>("resumed").map_err(translate));
        Ok(resumed.transpose()?.and_then(|resumed| u64::try_from(resumed).ok()).unwrap_or(0))
    }

    /// Whatever took effect may have made work ready, or ended a run that somebody waits for.
    pub(super) fn ring_for(&self, settles: &[Settle], settled: &[Settled]) {
        let mut rung = Vec::new();
        for (settle, _) in
            settles.iter().zip(settled).filter(|(_, what)| **what == Settled::Applied)
        {
            let Some(lease) = settle.lease.task() else { continue };
            let Some(flow) = self.flows_of_runs.of(lease.task.run) else {
                return self.bell.ring_all();
            };
            if !rung.contains(&flow) {
                rung.push(flow);
            }
        }
        for flow in &rung {
            self.bell.ring(flow);
        }
    }
}

pub(super) fn outcome_of(row: &PgRow) -> Result<Settled, BackendError> {
    outcome(row.try_get("outcome").map_err(translate)?)
}

pub(super) fn outcome(word: &str) -> Result<Settled, BackendError> {
    Settled::from_word(word).ok_or_else(|| unexpected(format_args!("the outcome `{word}`")))
}

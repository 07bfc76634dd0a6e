//! Settling attempts, a batch in one transaction.

use std::collections::BTreeSet;
use std::sync::Arc;

use pgflow_machine::{
    Finished, Limits, Output, Retry, RunId, Settle, Settled, Standing, Turn, Verdict, Violation,
    cut_error, elements, retry_delay, settle_order,
};
use serde_json::Value;
use sqlx::SqliteConnection;

use super::Sqlite;
use super::claim::claim_in;
use super::clock::seconds;
use super::definitions::Session;
use super::error::{Result, broken};
use super::inputs::parse;
use super::load::{self, Run, Runs};
use super::tasks::Tasks;
use super::write::Writes;
use crate::backend::{BackendError, Claim, Claimed, Work};

/// A batch while it is being settled.
pub(super) struct Batch<'a> {
    session: &'a Session,
    settles: &'a [Settle],
    runs: Runs,
    tasks: Tasks,
    writes: Writes,
    outcomes: Vec<Option<Settled>>,
}

pub(super) async fn settle(
    sqlite: &Sqlite,
    settles: &[Settle],
    next: Option<&Claim>,
) -> Result<Work> {
    let mut tx = sqlite.connections.begin().await?;
    let session = sqlite.memory.session(&mut tx).await?;
    let (settled, news) = settle_in(&mut tx, &session, settles).await?;
    let claimed = match next {
        Some(next) => claim_in(&mut tx, &session, next).await?,
        None => Claimed::default(),
    };
    tx.commit().await?;
    sqlite.hints.flows(&news);
    Ok(Work { settled, claimed })
}

/// Settles a batch in a transaction that has the write lock. Also returns the flows with news.
pub(super) async fn settle_in(
    connection: &mut SqliteConnection,
    session: &Session,
    settles: &[Settle],
) -> Result<(Vec<Settled>, Vec<Arc<str>>)> {
    let mut batch = Batch::load(connection, session, settles).await?;
    let order = settle_order(settles);
    batch.check_fanout()?;
    let completions: Vec<usize> =
        order.iter().copied().filter(|at| batch.output(*at).is_some()).collect();
    for group in batch.groups(&completions) {
        batch.complete(connection, &group).await?;
    }
    for at in order.into_iter().skip(completions.len()) {
        batch.give_up(connection, at).await?;
    }
    batch.finish(connection).await
}

impl<'a> Batch<'a> {
    async fn load(
        connection: &mut SqliteConnection,
        session: &'a Session,
        settles: &'a [Settle],
    ) -> Result<Self> {
        let ids = settles.iter().map(|settle| settle.lease.task.run);
        let runs = load::runs(connection, session, ids).await?;
        let task =
            |settle: &Settle| Some(runs.get(&settle.lease.task.run)?.task(&settle.lease.task)?.1);
        let ids: Vec<_> = settles.iter().filter_map(task).collect();
        let tasks = Tasks::load(connection, &ids).await?;
        let (writes, outcomes) = (Writes::default(), vec![None; settles.len()]);
        Ok(Self { session, settles, runs, tasks, writes, outcomes })
    }

    fn output(&self, at: usize) -> Option<&'a Value> {
        match &self.settles[at].verdict {
            Verdict::Completed(output) => Some(output),
            _ => None,
        }
    }

    /// The step and row of a settle's task.
    fn place(&self, at: usize) -> Option<(usize, i64)> {
        let key = &self.settles[at].lease.task;
        self.runs.get(&key.run)?.task(key)
    }

    fn standing(&self, at: usize) -> Option<Standing> {
        let (step, id) = self.place(at)?;
        let (run, task) =
            (&self.runs.get(&self.settles[at].lease.task.run)?.state, self.tasks.get(id)?);
        Some(Standing {
            run: run.status,
            step: run.steps[step].status,
            task: task.status,
            attempts: task.attempts,
        })
    }

    fn applies(&self, at: usize) -> bool {
        let attempt = self.settles[at].lease.attempt;
        self.standing(at).is_some_and(|standing| standing.applies(attempt))
    }

    fn violation(&self, at: usize) -> Option<Violation> {
        let (step, _) = self.place(at)?;
        let run = self.runs.get(&self.settles[at].lease.task.run)?;
        Violation::of(&run.version.plan, &run.state, step, self.output(at)?)
    }

    /// Refuses arrays that are too long to map over, before anything is written.
    fn check_fanout(&self) -> Result<()> {
        for (at, settle) in self.settles.iter().enumerate() {
            let key = &settle.lease.task;
            let Some(((step, _), output)) = self.place(at).zip(self.output(at)) else { continue };
            let Some(run) = self.runs.get(&key.run) else { continue };
            elements(&run.version.plan, step, output, &Limits::default()).map_err(|source| {
                let what = format!("the output of task {} of step {}", key.index, key.step);
                BackendError::Payload { what, source }
            })?;
        }
        Ok(())
    }

    /// Completions that take effect together: those of a run, unless one of the batch breaks its run.
    fn groups(&self, completions: &[usize]) -> Vec<Vec<usize>> {
        if completions.iter().any(|at| self.violation(*at).is_some()) {
            return completions.iter().map(|at| vec![*at]).collect();
        }
        let run = |at: &usize| self.settles[*at].lease.task.run;
        completions.chunk_by(|a, b| run(a) == run(b)).map(<[usize]>::to_vec).collect()
    }

    /// Completes tasks of one run.
    async fn complete(&mut self, connection: &mut SqliteConnection, group: &[usize]) -> Result<()> {
        let mut done: Vec<(usize, &Value)> = Vec::new();
        for &at in group {
            let Some(((step, id), output)) = self.place(at).zip(self.output(at)) else { continue };
            if !self.applies(at) {
                continue;
            }
            self.outcomes[at] = Some(Settled::Applied);
            if let Some(violation) = self.violation(at) {
                self.tasks.fail(id, &violation.task_error(), Some(output));
                let run = self.run(self.settles[at].lease.task.run)?;
                let mut turn = Turn::new(&run.version.plan, &mut run.state);
                turn.violate(&violation);
                let change = turn.end();
                self.note(self.settles[at].lease.task.run, change)?;
            } else {
                self.tasks.complete(id, output);
                done.push((step, output));
            }
        }
        match group.first() {
            Some(&at) if !done.is_empty() => {
                self.count_down(connection, self.settles[at].lease.task.run, &done).await
            }
            _ => Ok(()),
        }
    }

    /// Takes completed tasks off their steps, and finishes those that have none left.
    async fn count_down(
        &mut self,
        connection: &mut SqliteConnection,
        id: RunId,
        done: &[(usize, &Value)],
    ) -> Result<()> {
        let run = self.runs.get_mut(&id).ok_or_else(|| broken("a run is gone"))?;
        let version = Arc::clone(&run.version);
        let mut turn = Turn::new(&version.plan, &mut run.state);
        let mut ended: Vec<(usize, &Value)> = Vec::new();
        for tasks in done.chunk_by(|a, b| a.0 == b.0) {
            let (step, output) = tasks[0];
            if turn.count_down(step, u32::try_from(tasks.len()).unwrap_or(u32::MAX)) {
                ended.push((step, output));
            }
        }
        let counted = turn.end();
        self.note(id, counted)?;
        if ended.is_empty() {
            return Ok(());
        }
        let run = self.runs.get_mut(&id).ok_or_else(|| broken("a run is gone"))?;
        let steps: Vec<_> = ended.iter().map(|(step, _)| *step).collect();
        run.load_wanted(connection, &steps).await?;
        let mut finished = Vec::new();
        for (step, output) in ended {
            finished.push(finish(connection, run, &mut self.tasks, step, output).await?);
        }
        let mut turn = Turn::new(&version.plan, &mut run.state);
        turn.finish(&finished).map_err(broken)?;
        let change = turn.end();
        self.note(id, change)
    }

    /// Fails or releases a task.
    async fn give_up(&mut self, connection: &mut SqliteConnection, at: usize) -> Result<()> {
        let settle = &self.settles[at];
        let Some(((_, id), standing)) = self.place(at).zip(self.standing(at)) else {
            return Ok(());
        };
        let applies = standing.applies(settle.lease.attempt);
        if applies {
            self.outcomes[at] = Some(Settled::Applied);
        }
        match &settle.verdict {
            Verdict::Failed { error, retry } if applies => {
                self.fail(connection, at, &clean(error), *retry).await?;
            }
            Verdict::Failed { error, .. } if standing.fails_quietly(settle.lease.attempt) => {
                self.tasks.fail(id, &clean(error), None);
            }
            Verdict::Released if applies => {
                self.tasks.refund(id);
                self.tasks.queue(id, self.session.now, None);
            }
            _ => {}
        }
        Ok(())
    }

    async fn fail(
        &mut self,
        connection: &mut SqliteConnection,
        at: usize,
        error: &str,
        retry: Retry,
    ) -> Result<()> {
        let Some(((step, id), run_id)) = self.place(at).zip(Some(self.settles[at].lease.task.run))
        else {
            return Ok(());
        };
        let counted = self.tasks.get(id).map_or(0, |task| task.attempts - task.refunded);
        let run = self.run(run_id)?;
        let version = Arc::clone(&run.version);
        if let Some(delay) = retry_delay(version.plan.step(step), counted, retry) {
            self.tasks.queue(id, self.session.now + seconds(delay), Some(error));
            return Ok(());
        }
        let change = exhaust(connection, run, step, error).await?;
        self.tasks.fail(id, error, None);
        self.note(run_id, change)
    }

    fn run(&mut self, id: RunId) -> Result<&mut Run> {
        self.runs.get_mut(&id).ok_or_else(|| broken("a run is gone"))
    }

    fn note(&mut self, id: RunId, change: pgflow_machine::Change) -> Result<()> {
        let run = self.runs.get(&id).ok_or_else(|| broken("a run is gone"))?;
        self.writes.add(run, change);
        Ok(())
    }

    /// Writes it all. What did not take effect is told why, as the state is after the batch.
    async fn finish(
        mut self,
        connection: &mut SqliteConnection,
    ) -> Result<(Vec<Settled>, Vec<Arc<str>>)> {
        let outcome = |at: usize| {
            let attempt = self.settles[at].lease.attempt;
            let refusal = || self.standing(at).map_or(Settled::Unknown, |it| it.refusal(attempt));
            self.outcomes[at].unwrap_or_else(refusal)
        };
        let outcomes = (0..self.settles.len()).map(outcome).collect();
        // Tasks that are queued again are not in the log.
        let is_queued = self.tasks.has_queued();
        let has_news = |run: &&Run| is_queued || self.writes.has_news(run);
        let news = self.runs.values().filter(has_news).map(|run| run.version.slug().clone());
        let news = news.collect::<BTreeSet<_>>().into_iter().collect();
        self.tasks.flush(connection).await?;
        self.writes.flush(connection, self.session, self.runs.values_mut()).await?;
        Ok((outcomes, news))
    }
}

/// An error as it is stored. SQLite ends a text at a NUL.
fn clean(error: &str) -> String {
    cut_error(error).replace('\0', "\u{fffd}")
}

/// A step whose tasks are all completed, with its output where a condition may ask for it.
async fn finish(
    connection: &mut SqliteConnection,
    run: &Run,
    tasks: &mut Tasks,
    step: usize,
    output: &Value,
) -> Result<Finished> {
    let plan = &run.version.plan;
    let planned = plan.step(step);
    let elements = elements(plan, step, output, &Limits::default()).map_err(broken)?;
    let is_asked = planned.dependents.iter().any(|dependent| plan.step(*dependent).has_condition());
    let output = match (is_asked, planned.is_map) {
        (false, _) => Output::Stored,
        (true, false) => Output::Loaded(Arc::new(output.clone())),
        (true, true) => {
            tasks.flush(connection).await?;
            Output::Loaded(Arc::new(map_output(connection, run, step).await?))
        }
    };
    Ok(Finished { step, output, elements })
}

/// The outputs of a map's tasks, in order.
async fn map_output(connection: &mut SqliteConnection, run: &Run, step: usize) -> Result<Value> {
    let text = "select '[' || group_concat(t.output, ',') || ']' from (
        select output from pgflow_tasks where id >= ?1 and id < ?1 + ?2 order by id) t";
    let query = sqlx::query_scalar(text)
        .bind(run.first_tasks[step])
        .bind(run.state.steps[step].initial_tasks);
    let text: Option<String> = query.fetch_one(connection).await?;
    parse(text.as_deref().unwrap_or("[]"))
}

/// Ends a step one of whose tasks has no attempt left.
pub(super) async fn exhaust(
    connection: &mut SqliteConnection,
    run: &mut Run,
    step: usize,
    error: &str,
) -> Result<pgflow_machine::Change> {
    run.load_wanted(connection, &[step]).await?;
    let version = Arc::clone(&run.version);
    let mut turn = Turn::new(&version.plan, &mut run.state);
    turn.exhaust(step, error).map_err(broken)?;
    Ok(turn.end())
}

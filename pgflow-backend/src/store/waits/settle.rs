//! Attempts that end by waiting.

use std::collections::HashSet;
use std::sync::Arc;

use pgflow_machine::job::{Dependency, NewJob, Submitted};
use pgflow_machine::wait::{Awaited, Child, ChildEnd, HookToken, NewChild, NewWait, WaitRow};
use pgflow_machine::{
    Command, Holds, Lease, Limits, Needs, NewRun, Retry, Rows, RunId, Settle, SettleBatch, Settled,
    Start, TaskKey, TaskLease, Until, Verdict, settle_rounds,
};

use super::signal::deliver_kept;
use super::ties::run_end;
use super::wake::end_waits;
use crate::backend::JobStanding;
use crate::store::execute::{News, execute};
use crate::store::{OpenWait, Session, Stored, jobs};

/// Settles attempts. Those that wait come last, each with all that it starts.
pub(crate) async fn settle_in<S: Session>(
    session: &mut S,
    settles: &[Settle],
    limits: Limits,
) -> Stored<(Vec<Settled>, News)> {
    if !settles.iter().any(|settle| new_wait(settle).is_some()) {
        return execute(session, &SettleBatch { settles, limits }).await;
    }
    // All rows of the batch are locked before anything is started.
    let held = holds(session, settles.iter()).await?;
    let (changed, news) = (HashSet::new(), News::default());
    let mut batch = Settling { session, limits, held, changed, news };
    let mut settled = vec![Settled::Unknown; settles.len()];
    for round in settle_rounds(settles) {
        let (waits, others): (Vec<_>, Vec<_>) =
            round.into_iter().partition(|&item| new_wait(&settles[item]).is_some());
        // Children exist only if their wait does, so it is known first whether these end its step.
        let items = others.into_iter().map(|item| (item, settles[item].clone()));
        batch.settle(items.collect(), &mut settled).await?;
        batch.look_again(settles, &waits).await?;
        batch.wait(settles, waits, &mut settled).await?;
    }
    Ok((settled, batch.news))
}

async fn holds<'s, S: Session>(
    session: &mut S,
    settles: impl Iterator<Item = &'s Settle>,
) -> Stored<Vec<bool>> {
    let leases: Vec<Lease> = settles.map(|settle| settle.lease.clone()).collect();
    Ok(execute(session, &Holds { leases: &leases }).await?.0)
}

fn new_wait(settle: &Settle) -> Option<(&TaskLease, &NewWait)> {
    match &settle.verdict {
        Verdict::Yielded { until: Until::Met(wait), .. } => Some((settle.lease.task()?, wait)),
        _ => None,
    }
}

fn run_of(settle: &Settle) -> Option<RunId> {
    Some(settle.lease.task()?.task.run)
}

/// A batch with waits in it, part by part in one transaction.
struct Settling<'s, S> {
    session: &'s mut S,
    limits: Limits,
    /// Whether the attempts of the batch have their tasks.
    held: Vec<bool>,
    /// Runs for which that may be different by now.
    changed: HashSet<RunId>,
    news: News,
}

impl<S: Session> Settling<'_, S> {
    /// Settles items of the batch, given with their positions, and notes what became of them.
    async fn settle(&mut self, items: Vec<(usize, Settle)>, settled: &mut [Settled]) -> Stored<()> {
        if items.is_empty() {
            return Ok(());
        }
        let (positions, settles): (Vec<_>, Vec<_>) = items.into_iter().unzip();
        self.changed.extend(settles.iter().filter_map(run_of));
        let command = SettleBatch { settles: &settles, limits: self.limits };
        let (outcomes, news) = execute(self.session, &command).await?;
        self.news.extend(news);
        for (position, outcome) in positions.into_iter().zip(outcomes) {
            settled[position] = outcome;
        }
        Ok(())
    }

    /// What came before in this batch may have ended the steps of these.
    async fn look_again(&mut self, settles: &[Settle], items: &[usize]) -> Stored<()> {
        let may_differ = |settle| run_of(settle).is_some_and(|run| self.changed.contains(&run));
        let items = items.iter().copied().filter(|&item| may_differ(&settles[item]));
        let items: Vec<_> = items.collect();
        if items.is_empty() {
            return Ok(());
        }
        let held = holds(self.session, items.iter().map(|&item| &settles[item])).await?;
        for (item, holds) in items.into_iter().zip(held) {
            self.held[item] = holds;
        }
        Ok(())
    }

    /// Opens waits, by run, step and index. Those that cannot be had fail their attempts, when all others are there.
    async fn wait(
        &mut self,
        settles: &[Settle],
        items: Vec<usize>,
        settled: &mut [Settled],
    ) -> Stored<()> {
        let (mut waiting, mut failing, mut opened) = (Vec::new(), Vec::new(), Vec::new());
        for item in items {
            let mut settle = settles[item].clone();
            if let Some((lease, wait)) = new_wait(&settles[item]).filter(|_| self.held[item]) {
                let task = &lease.task;
                match prepare(self.session, task, wait, self.limits, &mut self.news).await? {
                    Ok(children) => opened.push((lease, wait, children)),
                    Err(error) => {
                        settle.verdict = Verdict::Failed { error, retry: Retry::ByPolicy };
                        failing.push((item, settle));
                        continue;
                    }
                }
            }
            waiting.push((item, settle));
        }
        self.settle(waiting, settled).await?;
        // Only now: the log has the same moment, which may have become a later one when rows were locked.
        let now = self.session.now();
        let opened = opened.into_iter().map(|(lease, wait, children)| {
            let row = WaitRow::new(wait, lease.attempt, now);
            OpenWait { task: lease.task.clone(), row, children }
        });
        let opened: Vec<_> = opened.collect();
        self.session.open_waits(&opened).await?;
        self.news.extend(end_met(self.session, opened, self.limits).await?);
        self.settle(failing, settled).await
    }
}

/// Starts what is waited for, and takes the hook: the children; or what the attempt fails with.
async fn prepare<S: Session>(
    session: &mut S,
    task: &TaskKey,
    wait: &NewWait,
    limits: Limits,
    news: &mut News,
) -> Stored<Result<Vec<Child>, String>> {
    if let Err(too_much) = wait.check() {
        return Ok(Err(too_much.to_string()));
    }
    match &wait.on {
        Awaited::Sleep(_) => Ok(Ok(Vec::new())),
        Awaited::Hook(token) => take_hook(session, task, token).await,
        Awaited::Runs { children, .. } => start(session, children, limits, news).await,
        Awaited::Jobs { jobs, .. } => submit(session, task.run, jobs, limits, news).await,
    }
}

async fn take_hook<S: Session>(
    session: &mut S,
    task: &TaskKey,
    token: &HookToken,
) -> Stored<Result<Vec<Child>, String>> {
    match session.lock_hook(token).await? {
        Some(by) if by != *task => {
            let TaskKey { run, step, index } = by;
            return Ok(Err(format!(
                "the hook's token is taken by task {index} of step {step} of run {run}"
            )));
        }
        Some(_) => {}
        None if token.is_announced() => {
            return Ok(Err("the hook's token was announced to nobody".to_owned()));
        }
        None => session.set_hook(token, task).await?,
    }
    Ok(Ok(Vec::new()))
}

/// Starts runs, or none of them.
async fn start<S: Session>(
    session: &mut S,
    children: &[NewChild],
    limits: Limits,
    news: &mut News,
) -> Stored<Result<Vec<Child>, String>> {
    let new = |child: &NewChild| NewRun {
        compiled_for: child.compiled_for.clone(),
        ..NewRun::new(&*child.flow, child.input.clone(), RunId::new())
    };
    let runs: Vec<_> = children.iter().map(new).collect();
    let catalog = Arc::clone(session.catalog());
    for run in &runs {
        if let Err(error) = pgflow_machine::check_payload(&run.input, &limits) {
            return Ok(Err(format!("cannot store the input of a child: {error}")));
        }
    }
    let start = Start { runs: runs.iter().collect(), catalog, limits };
    // Whether one is refused is known before any is written.
    let (answers, _) = start.decide(&mut Rows::default(), session.now())?;
    if let Some(refusal) = answers.into_iter().find_map(Result::err) {
        return Ok(Err(refusal.to_string()));
    }
    news.extend(execute(session, &start).await?.1);
    let mut rows = Rows::default();
    session.load(&Needs::of_runs(runs.iter().map(|run| run.id)), &mut rows).await?;
    // One without tasks has ended already.
    let child = |run: &NewRun| {
        let end = rows.runs.get(&run.id).and_then(|row| run_end(row, &[]));
        Child { on: Dependency::Run(run.id), end }
    };
    Ok(Ok(runs.iter().map(child).collect()))
}

/// Submits jobs, or none of them.
async fn submit<S: Session>(
    session: &mut S,
    parent: RunId,
    jobs: &[NewJob],
    limits: Limits,
    news: &mut News,
) -> Stored<Result<Vec<Child>, String>> {
    let by = jobs::by_run(parent);
    let answers = match jobs::submit_all(session, jobs, &by, limits).await? {
        Ok((answers, ready)) => {
            news.ready.extend(ready);
            answers
        }
        Err(problem) => return Ok(Err(problem.to_string())),
    };
    let mut children = Vec::with_capacity(jobs.len());
    for (job, answer) in jobs.iter().zip(answers) {
        let mut child = Child { on: Dependency::Job(job.id.clone()), end: None };
        // One that was there may have ended.
        if answer == Submitted::Exists {
            child.end = job_end(session, job).await?;
        }
        children.push(child);
    }
    Ok(Ok(children))
}

async fn job_end<S: Session>(session: &mut S, job: &NewJob) -> Stored<Option<ChildEnd>> {
    let summary = session.job_record(&job.id).await?.map(|record| record.summary);
    Ok(summary.and_then(|summary| match summary.standing {
        JobStanding::Live(_) => None,
        JobStanding::Ended(outcome) => Some(jobs::child_end(outcome, &summary.row, summary.error)),
    }))
}

/// Ends those whose time has come already, or that were signalled before; then those whose children are over, as when their ends
/// had come a moment later.
async fn end_met<S: Session>(
    session: &mut S,
    opened: Vec<OpenWait>,
    limits: Limits,
) -> Stored<News> {
    let mut news = News::default();
    let (parents, others): (Vec<_>, Vec<_>) =
        opened.into_iter().partition(|wait| !wait.children.is_empty());
    for wait in others.into_iter().chain(parents) {
        news.extend(if wait.row.token.is_some() {
            deliver_kept(session, &wait, limits).await?
        } else {
            end_waits(session, vec![wait], limits).await?.1
        });
    }
    Ok(news)
}

//! Messages and permits, in a turn.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pgflow_machine::job::{JobId, JobRow, JobState, JobToken, Seq};
use pgflow_machine::payload_bytes;
use pgflow_machine::permit::{PermitKey, PermitKind, Place, Waiting};
use pgflow_machine::{TaskKey, TaskRef, TaskStatus, Timestamp, outlives};
use serde_json::Value;

use super::data::Data;
use super::session::MemorySession;
use super::upkeep::step_times;
use crate::backend::{Hold, JobSummary, MessageRow, TaskHold};
use crate::store::{PipelineSession, Stored};

/// Where messages stand that wait for an attempt.
const WAITING: [JobState; 3] = [JobState::Ready, JobState::Sleeping, JobState::Parked];

/// All that is kept of pipelines.
#[derive(Debug, Default)]
pub(super) struct PipelineData {
    permits: BTreeMap<PermitKey, Value>,
    holds: Vec<Hold>,
    task_holds: Vec<TaskHold>,
    messages: HashMap<JobId, MessageRow>,
}

impl PipelineData {
    /// Whether a pipeline takes what needs this.
    pub(super) fn is_queue(&self, need: &str) -> bool {
        let noted = self.permits.get(&PermitKey::new(PermitKind::Stage, need));
        noted.is_some_and(|stage| stage["of_queue"] == true)
    }

    fn waiting(&self, id: &JobId, row: &JobRow, payload: &Value) -> Waiting {
        let kept = self.messages.get(id).cloned().unwrap_or_default();
        Waiting {
            job: id.clone(),
            priority: row.priority,
            seq: place(row),
            since: row.wake_at.unwrap_or(row.created_at),
            bytes: payload_bytes(payload) as u64,
            batch_key: kept.batch_key,
            resources: kept.resources,
            not_before: kept.not_before,
            streak: row.streak,
        }
    }

    /// Forgets what is kept of jobs that are not there any more.
    pub(super) fn forget(&mut self, jobs: &[JobId]) {
        for job in jobs {
            self.messages.remove(job);
        }
    }
}

fn place(row: &JobRow) -> i64 {
    match row.seq {
        Seq::Given(seq) => seq,
        Seq::New(_) => i64::MAX,
    }
}

impl Data {
    fn is_held(&self, hold: &Hold) -> bool {
        self.jobs.lease_of(hold.job).is_some_and(|token| token.0 == hold.token)
    }

    /// Messages that are worked on without what they name, as sentences.
    pub(super) fn unheld(&self) -> Vec<String> {
        let is_leased = |job: &JobSummary| job.row.lease.is_some();
        let mut found = Vec::new();
        for job in self.jobs.all(self.clock.now()).filter(is_leased) {
            let named = self.pipelines.messages.get(&job.id).map(|kept| kept.resources.keys());
            for resource in named.into_iter().flatten() {
                let is_it = |hold: &Hold| {
                    hold.resource == *resource && hold.job == place(&job.row) && self.is_held(hold)
                };
                if !self.pipelines.holds.iter().any(is_it) {
                    found.push(format!(
                        "message {} is worked on without resource {resource}",
                        job.id
                    ));
                }
            }
        }
        found
    }

    /// Where the task of a hold is.
    fn held_task(&self, hold: &TaskHold) -> Option<TaskRef> {
        let TaskKey { run, step, index } = &hold.lease.task;
        let step = self.runs.get(run)?.version.plan.index(step)?;
        Some(TaskRef { run: *run, step, index: *index })
    }

    /// Whether the attempt may be worked on: it goes on, or nothing was heard of it since its step ended.
    fn is_at_it(&self, hold: &TaskHold) -> bool {
        let Some(at) = self.held_task(hold) else { return false };
        let (run, row) = (self.runs.get(&at.run), self.task(at).map(|task| task.row));
        let Some((run, row)) = run.zip(row) else { return false };
        let has_it = row.status == TaskStatus::Started && row.attempts == hold.lease.attempt;
        let ended_at = step_times(run)[at.step].ended_at.or(run.ended_at);
        let lasts = outlives(run.plan().step(at.step));
        has_it && ended_at.is_none_or(|ended| self.clock.now() < ended + lasts)
    }

    /// Deletes what these attempts hold; of which resources.
    pub(super) fn drop_task_holds(&mut self, attempts: &[(TaskRef, u32)]) -> BTreeSet<String> {
        let mut holds = std::mem::take(&mut self.pipelines.task_holds);
        let is_given_up = |hold: &mut TaskHold| {
            let task = self.held_task(hold);
            task.is_some_and(|at| attempts.contains(&(at, hold.lease.attempt)))
        };
        let given_up = holds.extract_if(.., is_given_up).map(|hold| hold.resource).collect();
        self.pipelines.task_holds = holds;
        given_up
    }
}

impl PipelineSession for MemorySession {
    async fn load_permits(
        &mut self,
        keys: &BTreeSet<PermitKey>,
    ) -> Stored<BTreeMap<PermitKey, Value>> {
        let data = self.data();
        let found = |key: &PermitKey| Some((key.clone(), data.pipelines.permits.get(key)?.clone()));
        Ok(keys.iter().filter_map(found).collect())
    }

    async fn message(&mut self, id: &JobId) -> Stored<Option<MessageRow>> {
        Ok(self.data().pipelines.messages.get(id).cloned())
    }

    async fn drop_turns(&mut self, queue: &str, max: u32) -> Stored<u64> {
        let mut data = self.data();
        let permits = &mut data.pipelines.permits;
        let round = permits.get(&PermitKey::round(queue)).and_then(Value::as_u64);
        let is_over = |(_, place): &(&PermitKey, &Value)| place.as_u64() <= round;
        let over = permits.range(PermitKey::turns_of(queue)).filter(is_over);
        let over: Vec<_> = over.take(max as usize).map(|(key, _)| key.clone()).collect();
        for key in &over {
            permits.remove(key);
        }
        Ok(over.len() as u64)
    }

    async fn permits_of(&mut self, kind: PermitKind) -> Stored<BTreeMap<String, Value>> {
        let data = self.data();
        let of_it = data.pipelines.permits.iter().filter(|(key, _)| key.kind == kind);
        Ok(of_it.map(|(key, value)| (key.name.clone(), value.clone())).collect())
    }

    async fn write_permits(&mut self, rows: &BTreeMap<PermitKey, Value>) -> Stored<()> {
        let rows = rows.iter().map(|(key, value)| (key.clone(), value.clone()));
        self.data().pipelines.permits.extend(rows);
        Ok(())
    }

    async fn load_holds(&mut self, resources: &BTreeSet<String>) -> Stored<Vec<Hold>> {
        let data = self.data();
        let of_these =
            data.pipelines.holds.iter().filter(|hold| resources.contains(&hold.resource));
        let of_jobs = of_these.filter(|hold| data.is_held(hold)).cloned();
        let of_tasks = data.pipelines.task_holds.iter();
        let of_tasks = of_tasks.filter(|hold| resources.contains(&hold.resource));
        let of_tasks = of_tasks.filter(|hold| data.is_at_it(hold)).map(Hold::from);
        Ok(of_jobs.chain(of_tasks).collect())
    }

    async fn add_holds(&mut self, holds: &[Hold]) -> Stored<()> {
        let mut data = self.data();
        let mut all = std::mem::take(&mut data.pipelines.holds);
        all.retain(|hold| data.is_held(hold));
        all.extend_from_slice(holds);
        data.pipelines.holds = all;
        Ok(())
    }

    async fn add_task_holds(&mut self, holds: &[TaskHold]) -> Stored<()> {
        let mut data = self.data();
        let mut all = std::mem::take(&mut data.pipelines.task_holds);
        all.retain(|hold| data.is_at_it(hold));
        all.extend_from_slice(holds);
        data.pipelines.task_holds = all;
        Ok(())
    }

    async fn drop_holds(&mut self, tokens: &[JobToken]) -> Stored<BTreeSet<String>> {
        let mut data = self.data();
        let tokens: BTreeSet<_> = tokens.iter().map(|token| token.0.as_str()).collect();
        let is_over = |hold: &mut Hold| tokens.contains(hold.token.as_str());
        Ok(data.pipelines.holds.extract_if(.., is_over).map(|hold| hold.resource).collect())
    }

    async fn waiting(
        &mut self,
        need: &str,
        after: Option<(i32, i64)>,
        max: u32,
    ) -> Stored<Vec<Waiting>> {
        let (data, now) = (self.data(), self.now);
        let is_after = |row: &JobRow| {
            after.is_none_or(|(priority, seq)| {
                (-i64::from(row.priority), place(row)) > (-i64::from(priority), seq)
            })
        };
        let ready = data.jobs.waiting(need);
        let ready = ready.filter(|(_, row, _)| is_after(row) && !row.is_expired(now));
        let page = ready.take(max as usize);
        Ok(page.map(|(id, row, payload)| data.pipelines.waiting(id, row, payload)).collect())
    }

    async fn waiting_of(
        &mut self,
        need: &str,
        keys: &[String],
        after: Option<Place>,
        max: u32,
    ) -> Stored<Vec<Waiting>> {
        let all = self.waiting(need, after, u32::MAX).await?;
        let mut of_each: HashMap<&String, u32> = keys.iter().map(|key| (key, 0)).collect();
        let is_one_more = |waiting: &Waiting| {
            let found = waiting.batch_key.as_ref().and_then(|key| of_each.get_mut(key));
            found.is_some_and(|many| {
                *many += 1;
                *many <= max
            })
        };
        Ok(all.into_iter().filter(is_one_more).collect())
    }

    async fn depth(&mut self, need: &str, most: u64) -> Stored<u64> {
        let data = self.data();
        let of_it = data.jobs.all(self.now).filter(|job| job.row.need == need);
        let waiting = of_it.filter(|job| WAITING.contains(&job.row.state));
        Ok((waiting.count() as u64).min(most))
    }

    async fn next_change(&mut self, need: &str) -> Stored<Option<Timestamp>> {
        Ok(self.data().jobs.next_change(need))
    }

    async fn write_messages(&mut self, rows: &BTreeMap<JobId, MessageRow>) -> Stored<()> {
        let rows = rows.iter().map(|(id, row)| (id.clone(), row.clone()));
        self.data().pipelines.messages.extend(rows);
        Ok(())
    }

    async fn defer_messages(&mut self, until: &BTreeMap<JobId, Timestamp>) -> Stored<()> {
        let mut data = self.data();
        for (id, until) in until {
            let kept = data.pipelines.messages.entry(id.clone()).or_default();
            kept.not_before = Some(*until);
        }
        Ok(())
    }

    async fn drop_messages(&mut self, messages: &[JobId]) -> Stored<()> {
        self.data().pipelines.forget(messages);
        Ok(())
    }

    async fn forget_dead(&mut self, jobs: &[JobId]) -> Stored<u64> {
        let mut data = self.data();
        let dead = data.jobs.forget_dead(jobs);
        data.pipelines.forget(&dead);
        Ok(dead.len() as u64)
    }
}

//! What cannot be, looked for.

use super::Sqlite;
use pgflow_backend::backend::BackendError;

/// Each finds what its name says, as sentences.
const INVARIANTS: &[&str] = &[
    // Counters equal a recount.
    "select 'run ' || hex(r.run_id) || ': remaining_steps is ' || r.remaining_steps || ', but ' || o.steps || ' steps are open'
       from pgflow_runs r
       join (select id >> 16 as run, sum(status not in ('completed', 'skipped')) as steps from pgflow_steps group by 1) o
         on o.run = r.id
      where r.remaining_steps <> o.steps",
    "select 'step ' || s.id || ': remaining_tasks is ' || s.remaining_tasks || ', but ' || count(*) || ' tasks are open'
       from pgflow_steps s
       join pgflow_tasks t on t.id >= s.first_task and t.id < s.first_task + s.tasks and t.status <> 'completed'
      where s.status = 'started' group by s.id having count(*) <> s.remaining_tasks",
    "select 'step ' || s.id || ' is ' || s.status || ' and has ' || count(t.id) || ' of ' || s.tasks || ' tasks'
       from pgflow_steps s
       left join pgflow_tasks t on t.id >= s.first_task and t.id < s.first_task + s.tasks and t.step = s.id
        and t.task_index = t.id - s.first_task and (s.status = 'started' or t.status = 'completed')
      where s.status in ('started', 'completed') and s.tasks > 0
      group by s.id having count(t.id) <> s.tasks",
    // Ends.
    "select 'run ' || hex(run_id) || ' is ' || status || ' with ' || remaining_steps || ' steps to go'
       from pgflow_runs
      where status in ('started', 'completed') and (status = 'completed') <> (remaining_steps = 0)",
    "select 'run ' || hex(r.run_id) || ' has failed, but no step has'
       from pgflow_runs r
      where r.status = 'failed' and not exists (
        select 1 from pgflow_steps s where s.id >= r.id << 16 and s.id < (r.id + 1) << 16 and s.status = 'failed')",
    "select 'run ' || hex(run_id) || ' is ' || status || ', but its end is not as it should be'
       from pgflow_runs where (status = 'started') <> (ended_at is null)",
    "select 'step ' || s.id || ' waits for nothing, yet has not started'
       from pgflow_steps s join pgflow_runs r on r.id = s.id >> 16 and r.status = 'started'
      where s.status = 'created' and s.remaining_deps = 0",
    // What may be claimed or taken back is what is open.
    "select 'task ' || t.id || ' is ' || t.status || ' in a step that is ' || s.status || ' of a run that is ' || r.status
         || case when t.ready_at is null and t.lost_at is null then ', and nobody can get at it' else ', yet can be taken' end
       from pgflow_tasks t join pgflow_steps s on s.id = t.step join pgflow_runs r on r.id = t.step >> 16
      where (t.status in ('queued', 'started') and s.status = 'started' and r.status = 'started')
         <> (t.ready_at is not null or t.lost_at is not null)",
    "select 'task ' || id || ' is ' || status || ' without an attempt'
       from pgflow_tasks where (status <> 'queued' and attempts = 0) or refunded > attempts",
    "select 'task ' || t.id || ' has no step' from pgflow_tasks t
      where not exists (select 1 from pgflow_steps s where s.id = t.step)",
    // Outputs.
    "select 'output of step ' || s.id || ' is not that of its tasks'
       from pgflow_steps s join pgflow_runs r on r.id = s.id >> 16
       join pgflow_flows f on f.id = r.flow
      where s.status = 'completed' and s.output is not case
        when s.tasks = 0 then '[]'
        when json_extract(f.shape, '$.steps[' || (s.id & 65535) || '].stepType') = 'map' then (
          select '[' || group_concat(t.output, ',') || ']' from (
            select output from pgflow_tasks where id >= s.first_task and id < s.first_task + s.tasks order by id) t)
        else (select t.output from pgflow_tasks t where t.id = s.first_task) end",
    "select 'step ' || id || ' is ' || status || ' and has an output' from pgflow_steps
      where status <> 'completed' and output is not null",
    // Events.
    "select 'run ' || hex(r.run_id) || ' has ' || count(e.seq) || ' events, the last is number ' || max(e.seq)
         || ' and it says ' || r.last_seq
       from pgflow_runs r left join pgflow_events e on e.run = r.id
      group by r.id having count(e.seq) <> r.last_seq or max(e.seq) is not r.last_seq or min(e.seq) <> 1",
    "select 'run ' || hex(r.run_id) || ' is ' || r.status || ', but its last event of that kind is another'
       from pgflow_runs r
      where 'run:' || r.status is not coalesce((
        select replace(e.entry ->> 'event', 'retried', 'started') from pgflow_events e
         where e.run = r.id and e.entry ->> 'event' like 'run:%' order by e.seq desc limit 1), '')",
    "select 'step ' || s.id || ' is ' || s.status || ', but there is no such event'
       from pgflow_steps s
      where s.status <> 'created' and not exists (
        select 1 from pgflow_events e
         where e.run = s.id >> 16 and e.entry ->> 'step' = s.id & 65535
           and e.entry ->> 'event' = 'step:' || s.status)",
    "select 'run ' || e.run || ': ' || (e.entry ->> 'event') || ' was recorded twice for step ' || (e.entry ->> 'step')
       from pgflow_events e where e.entry ->> 'event' in ('step:completed', 'step:skipped')
      group by e.run, e.entry ->> 'event', e.entry ->> 'step' having count(*) > 1",
];

impl Sqlite {
    /// Looks for anything that cannot be: a sentence per violation, none when all is well. Reads everything, so it is
    /// for tests and for an operator's doubts, not for a timer.
    pub async fn check(&self) -> Result<Vec<String>, BackendError> {
        let mut found = Vec::new();
        let mut tx = self.connections.read().await?;
        let more = [
            super::jobs::INVARIANTS,
            super::streams::INVARIANTS,
            super::waits::INVARIANTS,
            super::schedules::INVARIANTS,
            super::pipelines::INVARIANTS,
        ];
        for invariant in INVARIANTS.iter().chain(more.into_iter().flatten()) {
            let query = sqlx::query_scalar(*invariant).fetch_all(&mut *tx);
            let violations: Vec<String> = query.await.map_err(super::error::Error::from)?;
            found.extend(violations);
        }
        Ok(found)
    }
}

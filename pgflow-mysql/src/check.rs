//! What cannot be, looked for.

use pgflow_backend::backend::BackendError;
use sqlx::Connection as _;

use crate::MySql;
use crate::error::{Error, Result};

/// Each finds what its name says, as sentences.
const INVARIANTS: &[&str] = &[
    // Counters equal a recount.
    "select concat('run ', hex(r.id), ': remaining_steps is ', r.remaining_steps, ', but ', o.steps, ' steps are open')
       from pgflow_runs r
       join (select run, sum(status not in ('completed', 'skipped')) as steps from pgflow_steps group by run) o
         on o.run = r.id
      where r.remaining_steps <> o.steps",
    "select concat('step ', s.step, ' of run ', hex(s.run), ': remaining_tasks is ', s.remaining_tasks, ', but ',
                   count(*), ' tasks are open')
       from pgflow_steps s
       join pgflow_tasks t on t.run = s.run and t.step = s.step and t.status <> 'completed'
      where s.status = 'started'
      group by s.run, s.step, s.remaining_tasks having count(*) <> s.remaining_tasks",
    "select concat('step ', s.step, ' of run ', hex(s.run), ' is ', s.status, ' and has ', count(t.run), ' of ', s.tasks,
                   ' tasks')
       from pgflow_steps s
       left join pgflow_tasks t on t.run = s.run and t.step = s.step and t.task_index < s.tasks
        and (s.status = 'started' or t.status = 'completed')
      where s.status in ('started', 'completed') and s.tasks > 0
      group by s.run, s.step, s.status, s.tasks having count(t.run) <> s.tasks",
    // Ends.
    "select concat('run ', hex(id), ' is ', status, ' with ', remaining_steps, ' steps to go')
       from pgflow_runs
      where status in ('started', 'completed') and (status = 'completed') <> (remaining_steps = 0)",
    "select concat('run ', hex(r.id), ' has failed, but no step has')
       from pgflow_runs r
      where r.status = 'failed'
        and not exists (select 1 from pgflow_steps s where s.run = r.id and s.status = 'failed')",
    "select concat('run ', hex(id), ' is ', status, ', but its end is not as it should be')
       from pgflow_runs where (status = 'started') <> (ended_at is null)",
    "select concat('step ', s.step, ' of run ', hex(s.run), ' waits for nothing, yet has not started')
       from pgflow_steps s join pgflow_runs r on r.id = s.run and r.status = 'started'
      where s.status = 'created' and s.remaining_deps = 0",
    "select concat('run ', hex(r.id), ' has no input')
       from pgflow_runs r left join pgflow_run_data d on d.run = r.id where d.run is null",
    // What may be claimed or taken back is what is open.
    "select concat('task ', t.task_index, ' of step ', t.step, ' of run ', hex(t.run), ' is ', t.status,
                   ' in a step that is ', s.status, ' of a run that is ', r.status,
                   case when t.ready_at is null and t.lost_at is null then ', and nobody can get at it'
                        else ', yet can be taken' end)
       from pgflow_tasks t
       join pgflow_steps s on s.run = t.run and s.step = t.step
       join pgflow_runs r on r.id = t.run
      where (t.status in ('queued', 'started') and s.status = 'started' and r.status = 'started')
         <> (t.ready_at is not null or t.lost_at is not null)",
    "select concat('task ', task_index, ' of step ', step, ' of run ', hex(run), ' is ', status, ' without an attempt')
       from pgflow_tasks where (status <> 'queued' and attempts = 0) or refunded > attempts",
    "select concat('task ', t.task_index, ' of step ', t.step, ' of run ', hex(t.run), ' is in the wrong queue')
       from pgflow_tasks t join pgflow_runs r on r.id = t.run where t.queue <> r.flow * 65536 + t.step",
    "select concat('task ', t.task_index, ' of step ', t.step, ' of run ', hex(t.run), ' has no step')
       from pgflow_tasks t left join pgflow_steps s on s.run = t.run and s.step = t.step where s.run is null",
    // Outputs.
    "select concat('task ', task_index, ' of step ', step, ' of run ', hex(run), ' is completed without an output')
       from pgflow_tasks where status = 'completed' and output is null",
    "select concat('run ', hex(id), ' is ', status, ', but whether it has an output is not as it should be')
       from pgflow_runs where (status = 'completed') <> (output_steps is not null)",
    "select concat('step ', s.step, ' of run ', hex(s.run), ' counts ', s.output_bytes, ' bytes of output, but there are ',
                   sum(octet_length(t.output) + 1))
       from pgflow_steps s
       join pgflow_tasks t on t.run = s.run and t.step = s.step and t.status = 'completed'
      where s.status = 'completed'
      group by s.run, s.step, s.output_bytes having sum(octet_length(t.output) + 1) <> coalesce(s.output_bytes, 0)",
    // Events.
    "select concat('run ', hex(r.id), ' has ', count(e.seq), ' events, the last is number ', coalesce(max(e.seq), 0),
                   ' and it says ', r.last_seq)
       from pgflow_runs r left join pgflow_events e on e.run = r.id
      group by r.id, r.last_seq
     having count(e.seq) <> r.last_seq or coalesce(max(e.seq), 0) <> r.last_seq or min(e.seq) <> 1",
    "select concat('run ', hex(r.id), ' is ', r.status, ', but its last event of that kind is another')
       from pgflow_runs r
      where concat('run:', r.status) <> coalesce((
        select replace(json_unquote(json_extract(e.entry, '$.event')), 'retried', 'started') from pgflow_events e
         where e.run = r.id and json_unquote(json_extract(e.entry, '$.event')) like 'run:%'
         order by e.seq desc limit 1), '')",
    "select concat('step ', s.step, ' of run ', hex(s.run), ' is ', s.status, ', but there is no such event')
       from pgflow_steps s
      where s.status <> 'created' and not exists (
        select 1 from pgflow_events e
         where e.run = s.run and json_extract(e.entry, '$.step') = s.step
           and json_unquote(json_extract(e.entry, '$.event')) = concat('step:', s.status))",
    "select concat('run ', hex(run), ': ', event, ' was recorded twice for step ', step)
       from (select run, json_unquote(json_extract(entry, '$.event')) as event,
                    json_unquote(json_extract(entry, '$.step')) as step
               from pgflow_events) e
      where event in ('step:completed', 'step:skipped')
      group by run, event, step having count(*) > 1",
];

impl MySql {
    /// Looks for anything that cannot be: a sentence per violation, none when all is well. Reads everything, so it is
    /// for tests and for an operator's doubts, not for a timer.
    pub async fn check(&self) -> Result<Vec<String>, BackendError> {
        Ok(self.find_violations().await?)
    }

    async fn find_violations(&self) -> Result<Vec<String>, Error> {
        let mut connection = self.connections.connect().await?;
        let mut found = Vec::new();
        let isolation = "set session transaction isolation level repeatable read";
        sqlx::raw_sql(isolation).execute(&mut connection).await?;
        let mut snapshot = connection.begin().await?;
        let more = [
            crate::jobs::INVARIANTS,
            crate::streams::INVARIANTS,
            crate::waits::INVARIANTS,
            crate::schedules::INVARIANTS,
            crate::pipelines::INVARIANTS,
        ];
        for invariant in INVARIANTS.iter().chain(more.into_iter().flatten()) {
            let query = sqlx::query_scalar(*invariant).fetch_all(&mut *snapshot);
            let violations: Vec<String> = query.await?;
            found.extend(violations);
        }
        found.extend(crate::jobs::rings(&mut snapshot).await?);
        snapshot.commit().await?;
        connection.close().await?;
        Ok(found)
    }
}

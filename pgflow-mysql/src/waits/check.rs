//! What cannot be of waits.

/// Each finds what its name says, as sentences.
pub(crate) const INVARIANTS: &[&str] = &[
    "select concat('task ', t.task_index, ' of step ', t.step, ' of run ', hex(t.run), ' waits, and nobody knows what for')
       from pgflow_tasks t
       join pgflow_steps s on s.run = t.run and s.step = t.step and s.status = 'started'
       join pgflow_runs r on r.id = t.run and r.status = 'started'
      where t.status = 'waiting' and not exists (
        select 1 from pgflow_waits w where w.run = t.run and w.task_index = t.task_index and w.attempt = t.attempts)",
    "select concat('a wait of run ', hex(w.run), ' is of a task that does not wait')
       from pgflow_waits w
      where not exists (
        select 1 from pgflow_runs r join pgflow_tasks t on t.run = r.id
         where r.id = w.run and r.status = 'started' and r.waits = 1 and t.task_index = w.task_index
           and t.status = 'waiting' and t.attempts = w.attempt)",
    "select concat('a child of run ', hex(a.run), ' is awaited by nobody')
       from pgflow_awaited a
      where a.is_orphan = 0 and not exists (
        select 1 from pgflow_waits w
         where w.run = a.run and w.step = a.step and w.task_index = a.task_index and w.attempt = a.attempt)",
    "select concat('run ', hex(r.id), ' is ', r.status, ', and who waits for it was not told')
       from pgflow_awaited a join pgflow_runs r on r.id = unhex(replace(convert(a.child using utf8mb4), '-', ''))
      where a.kind = 'run' and a.is_orphan = 0 and (r.awaited = 0 or (r.status <> 'started' and a.status is null))",
    "select concat('a wait of run ', hex(w.run), ' has no hook') from pgflow_waits w
      where w.kind = 'hook' and not exists (
        select 1 from pgflow_hooks h
         where h.token = w.token and h.run = w.run and h.step = w.step and h.task_index = w.task_index)",
    "select concat('a wait of run ', hex(w.run), ' has no children') from pgflow_waits w
      where w.kind in ('runs', 'jobs') and not exists (
        select 1 from pgflow_awaited a
         where a.run = w.run and a.step = w.step and a.task_index = w.task_index and a.attempt = w.attempt and a.is_orphan = 0)",
];

//! What cannot be of waits.

/// Each finds what its name says, as sentences.
pub(crate) const INVARIANTS: &[&str] = &[
    "select 'task ' || t.id || ' waits, and nobody knows what for'
       from pgflow_tasks t
       join pgflow_steps s on s.id = t.step and s.status = 'started'
       join pgflow_runs r on r.id = t.step >> 16 and r.status = 'started'
      where t.status = 'waiting' and not exists (
        select 1 from pgflow_waits w
         where w.run_id = r.run_id and w.step = s.slug and w.task_index = t.task_index and w.attempt = t.attempts)",
    "select 'wait ' || w.id || ' is of a task that does not wait'
       from pgflow_waits w
      where not exists (
        select 1 from pgflow_runs r
          join pgflow_steps s on s.id >= r.id << 16 and s.id < (r.id + 1) << 16 and s.slug = w.step and s.status = 'started'
          join pgflow_tasks t on t.id = s.first_task + w.task_index
         where r.run_id = w.run_id and r.status = 'started' and r.waits = 1
           and t.status = 'waiting' and t.attempts = w.attempt)",
    "select 'child ' || a.child || ' is awaited by nobody'
       from pgflow_awaited a
      where a.orphaned is null and not exists (
        select 1 from pgflow_waits w
         where w.run_id = a.run_id and w.step = a.step and w.task_index = a.task_index and w.attempt = a.attempt)",
    "select 'run ' || a.child || ' is ' || r.status || ', and who waits for it was not told'
       from pgflow_awaited a join pgflow_runs r on r.run_id = unhex(replace(a.child, '-', ''))
      where a.kind = 'run' and a.orphaned is null and (r.awaited = 0 or (r.status <> 'started' and a.status is null))",
    "select 'wait ' || w.id || ' has no hook' from pgflow_waits w
      where w.kind = 'hook' and not exists (
        select 1 from pgflow_hooks h
         where h.token = w.token and h.run_id = w.run_id and h.step = w.step and h.task_index = w.task_index)",
    "select 'wait ' || w.id || ' has no children' from pgflow_waits w
      where w.kind in ('runs', 'jobs') and not exists (
        select 1 from pgflow_awaited a
         where a.run_id = w.run_id and a.step = w.step and a.task_index = w.task_index and a.attempt = w.attempt
           and a.orphaned is null)",
];

//! What cannot be of messages and permits.

/// Each finds what its name says, as sentences.
pub(crate) const INVARIANTS: &[&str] = &[
    // No more is held than there is, unless somebody has taken capacity away: then nothing more is given.
    "select 'of resource ' || b.resource || ' ' || sum(b.units) || ' units are held, and there are ' || (p.state ->> 'capacity')
       from (
         select distinct h.resource, h.batch, h.units
           from pgflow_permit_holds h join pgflow_job_leases l on l.job = h.job and l.token = h.token
          union all
         select h.resource, null, h.units
           from pgflow_task_holds h
           join pgflow_runs r on r.run_id = h.run
           join pgflow_steps s on s.id = (r.id << 16) + h.step
           join pgflow_tasks t on t.id = s.first_task + h.task_index
          where t.status = 'started' and t.attempts = h.attempt and r.status = 'started' and s.status = 'started'
       ) b
       join pgflow_permits p on p.kind = 'resource' and p.name = b.resource
      where not coalesce(p.state ->> 'lowered', 0)
      group by b.resource having sum(b.units) > (p.state ->> 'capacity')",
    // Who works on it holds what it names.
    "select 'message ' || m.job || ' is worked on without resource ' || r.key
       from pgflow_messages m
       join pgflow_jobs j on j.id = m.job
       join pgflow_job_leases l on l.job = j.seq
       join json_each(m.resources) r on r.value > 0
      where not exists (select 1 from pgflow_permit_holds h where h.resource = r.key and h.job = l.job and h.token = l.token)",
    "select 'task ' || task_index || ' holds what is no resource: ' || resource from pgflow_task_holds
      where resource not in (select name from pgflow_permits where kind = 'resource')",
    "select 'hold of no resource: ' || resource from pgflow_permit_holds
      where resource not in (select name from pgflow_permits where kind = 'resource')",
    "select 'resource ' || resource || ' has a grant of a later number than its own: ' || max(fence)
       from pgflow_permit_holds h join pgflow_permits p on p.kind = 'resource' and p.name = h.resource
      group by resource having max(h.fence) > max(p.state ->> 'fence')",
    "select 'message of no job: ' || job from pgflow_messages
      where job not in (select id from pgflow_jobs) and job not in (select id from pgflow_job_archive)",
];

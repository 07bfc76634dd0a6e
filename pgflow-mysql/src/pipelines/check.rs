//! What cannot be of messages and permits.

/// Each finds what its name says, as sentences.
pub(crate) const INVARIANTS: &[&str] = &[
    // No more is held than there is, unless somebody has taken capacity away: then nothing more is given.
    "select concat('of resource ', convert(b.resource using utf8mb4), ' ', sum(b.units), ' units are held')
       from (
         select distinct h.resource, h.batch, h.units
           from pgflow_permit_holds h join pgflow_job_leases l on l.job = h.job and l.token = h.token
          union all
         select h.resource, null, h.units
           from pgflow_task_holds h
           join pgflow_tasks t on t.run = h.run and t.step = h.step and t.task_index = h.task_index
           join pgflow_steps s on s.run = h.run and s.step = h.step
           join pgflow_runs r on r.id = h.run
          where t.status = 'started' and t.attempts = h.attempt and r.status = 'started' and s.status = 'started'
       ) b
       join pgflow_permits p on p.kind = 'resource' and p.name = b.resource
      where coalesce(json_unquote(json_extract(p.state, '$.lowered')), 'false') <> 'true'
      group by b.resource, p.state
     having sum(b.units) > cast(json_unquote(json_extract(p.state, '$.capacity')) as unsigned)",
    // Who works on it holds what it names.
    "select concat('message ', convert(m.job using utf8mb4), ' is worked on without what it names')
       from pgflow_messages m
       join pgflow_jobs j on j.id = m.job
       join pgflow_job_leases l on l.job = j.seq
      where (select count(*) from pgflow_permit_holds h where h.job = l.job and h.token = l.token) < json_length(m.resources)",
    "select concat('task ', task_index, ' holds what is no resource: ', convert(resource using utf8mb4)) from pgflow_task_holds
      where resource not in (select name from pgflow_permits where kind = 'resource')",
    "select concat('resource ', convert(h.resource using utf8mb4), ' has a grant of a later number than its own: ', max(h.fence))
       from pgflow_permit_holds h join pgflow_permits p on p.kind = 'resource' and p.name = h.resource
      group by h.resource, p.state
     having max(h.fence) > cast(json_unquote(json_extract(p.state, '$.fence')) as unsigned)",
    "select concat('hold of no resource: ', convert(resource using utf8mb4)) from pgflow_permit_holds
      where resource not in (select name from pgflow_permits where kind = 'resource')",
    "select concat('message of no job: ', convert(job using utf8mb4)) from pgflow_messages
      where job not in (select id from pgflow_jobs) and job not in (select id from pgflow_job_archive)",
];

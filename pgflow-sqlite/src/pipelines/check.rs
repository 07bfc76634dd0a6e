//! What cannot be of messages and permits.

/// Each finds what its name says, as sentences.
pub(crate) const INVARIANTS: &[&str] = &[
    // No more is held than there is, unless somebody has taken capacity away: then nothing more is given.
    "select 'hold of no resource: ' || resource from pgflow_permit_holds
      where resource not in (select name from pgflow_permits where kind = 'resource')",
    "select 'resource ' || resource || ' has a grant of a later number than its own: ' || max(fence)
       from pgflow_permit_holds h join pgflow_permits p on p.kind = 'resource' and p.name = h.resource
      group by resource having max(h.fence) > max(p.state ->> 'fence')",
    "select 'message of no job: ' || job from pgflow_messages
      where job not in (select id from pgflow_jobs) and job not in (select id from pgflow_job_archive)",
];

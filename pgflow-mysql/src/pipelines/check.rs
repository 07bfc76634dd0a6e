//! What cannot be of messages and permits.

/// Each finds what its name says, as sentences.
pub(crate) const INVARIANTS: &[&str] = &[
    "select concat('hold of no resource: ', convert(resource using utf8mb4)) from pgflow_permit_holds
      where resource not in (select name from pgflow_permits where kind = 'resource')",
    "select concat('message of no job: ', convert(job using utf8mb4)) from pgflow_messages
      where job not in (select id from pgflow_jobs) and job not in (select id from pgflow_job_archive)",
];

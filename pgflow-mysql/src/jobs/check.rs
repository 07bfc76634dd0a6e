//! What cannot be of jobs.

use pgflow_machine::job;
use sqlx::MySqlConnection;

use super::look::pairs;
use crate::error::Result;

/// Each finds what its name says, as sentences.
pub(crate) const INVARIANTS: &[&str] = &[
    // Counters equal a recount.
    "select concat('job ', convert(j.id using utf8mb4), ': waits is ', j.waits, ', but ', count(e.waiter), ' dependencies are open')
       from pgflow_jobs j left join pgflow_job_edges e on e.waiter = j.id
      group by j.seq, j.id, j.waits having count(e.waiter) <> j.waits",
    "select concat('job ', convert(waiter using utf8mb4), ' waits, but is not there') from pgflow_job_edges
      where waiter not in (select id from pgflow_jobs)",
    // Nobody waits for what is over.
    "select concat('job ', convert(waiter using utf8mb4), ' waits for job ', convert(dependency using utf8mb4), ', which is over')
       from pgflow_job_edges where kind = 'job' and dependency not in (select id from pgflow_jobs)",
    "select concat('job ', convert(e.waiter using utf8mb4), ' waits for run ', convert(e.dependency using utf8mb4), ', which is over')
       from pgflow_job_edges e
      where e.kind = 'run' and not exists (
        select 1 from pgflow_runs r
         where r.id = unhex(replace(convert(e.dependency using utf8mb4), '-', '')) and r.status = 'started')",
    // Nobody goes on until somebody decides.
    "select concat('job ', convert(j.id using utf8mb4), ' is in crash concern, and job ', convert(e.waiter using utf8mb4), ' waits for it')
       from pgflow_jobs j join pgflow_job_edges e on e.kind = 'job' and e.dependency = j.id where j.state = 'concern'",
    // Leases and keys.
    "select concat('job ', convert(j.id using utf8mb4), ' is ', j.state, ', but its lease is not as it should be')
       from pgflow_jobs j left join pgflow_job_leases l on l.job = j.seq
      where (j.state = 'leased') <> (l.job is not null)",
    "select concat('lease of no job: ', job) from pgflow_job_leases where job not in (select seq from pgflow_jobs)",
    "select concat('key ', convert(k.job_key using utf8mb4), ' is held by ', convert(k.holder using utf8mb4), ', which has no lease')
       from pgflow_job_keys k
      where k.holder is not null and not exists (
        select 1 from pgflow_jobs j where j.id = k.holder and j.job_key = k.job_key and j.state = 'leased')",
    "select concat('job ', convert(j.id using utf8mb4), ' is leased and does not hold its key') from pgflow_jobs j
      where j.state = 'leased' and j.job_key is not null
        and not exists (select 1 from pgflow_job_keys k where k.job_key = j.job_key and k.holder = j.id)",
    // The line of a key.
    "select concat('job ', convert(j.id using utf8mb4), ' is ready, but its key is held') from pgflow_jobs j
      where j.state = 'ready' and j.job_key in (select job_key from pgflow_job_keys where holder is not null)",
    "select concat('job ', convert(j.id using utf8mb4), ' is parked behind nobody') from pgflow_jobs j
      where j.state = 'parked' and (j.job_key is null or (
        j.job_key not in (select job_key from pgflow_job_keys where holder is not null) and not exists (
          select 1 from pgflow_jobs h
           where h.job_key = j.job_key and h.need = j.need and h.state = 'ready'
             and (h.urgency < j.urgency or (h.urgency = j.urgency and h.seq < j.seq)))))",
    "select concat('key ', convert(j.job_key using utf8mb4), ' has ', count(*), ' heads') from pgflow_jobs j
      where j.state = 'ready' and j.job_key is not null group by j.job_key, j.need having count(*) > 1",
    "select concat('job ', convert(id using utf8mb4), ' has another urgency than priority') from pgflow_jobs
      where urgency <> -cast(priority as signed)",
    // The archive.
    "select concat('job ', convert(id using utf8mb4), ' is live and archived') from pgflow_job_archive
      where id in (select id from pgflow_jobs)",
    "select concat('job ', convert(id using utf8mb4), ' sleeps without a moment to wake') from pgflow_jobs
      where state = 'sleeping' and wake_at is null",
];

const WAITS: &str = "select waiter, dependency from pgflow_job_edges where kind = 'job'";

/// Jobs that wait for themselves, as sentences. No walk in SQL: servers end those early, and a long chain would be walked from each
/// of its jobs.
pub(crate) async fn rings(connection: &mut MySqlConnection) -> Result<Vec<String>> {
    let waits = pairs(sqlx::query_as(WAITS).fetch_all(connection).await?)?;
    let says = |id| format!("job {id} waits for itself, through others");
    Ok(job::rings(waits).into_iter().map(says).collect())
}

//! What cannot be of jobs.

/// Each finds what its name says, as sentences.
pub(crate) const INVARIANTS: &[&str] = &[
    // Counters equal a recount.
    "select 'job ' || j.id || ': waits is ' || j.waits || ', but ' || count(e.waiter) || ' dependencies are open'
       from pgflow_jobs j left join pgflow_job_edges e on e.waiter = j.id
      group by j.seq having count(e.waiter) <> j.waits",
    "select 'job ' || waiter || ' waits, but is not there' from pgflow_job_edges
      where waiter not in (select id from pgflow_jobs)",
    // Nobody waits for what is over.
    "select 'job ' || waiter || ' waits for job ' || dependency || ', which is over' from pgflow_job_edges
      where kind = 'job' and dependency not in (select id from pgflow_jobs)",
    "select 'job ' || waiter || ' waits for run ' || dependency || ', which is over' from pgflow_job_edges
      where kind = 'run' and not exists (
        select 1 from pgflow_runs r
         where r.run_id = unhex(replace(dependency, '-', '')) and r.status = 'started')",
    // Nobody goes on until somebody decides.
    "select 'job ' || j.id || ' is in crash concern, and job ' || e.waiter || ' waits for it'
       from pgflow_jobs j join pgflow_job_edges e on e.kind = 'job' and e.dependency = j.id where j.state = 'concern'",
    // Leases and keys.
    "select 'job ' || j.id || ' is ' || j.state || ', but its lease is not as it should be'
       from pgflow_jobs j left join pgflow_job_leases l on l.job = j.seq
      where (j.state = 'leased') <> (l.job is not null)",
    "select 'lease of no job: ' || job from pgflow_job_leases where job not in (select seq from pgflow_jobs)",
    "select 'key ' || k.key || ' is held by ' || k.holder || ', which has no lease' from pgflow_job_keys k
      where not exists (
        select 1 from pgflow_jobs j where j.id = k.holder and j.key = k.key and j.state = 'leased')",
    "select 'job ' || j.id || ' is leased and does not hold its key ' || j.key from pgflow_jobs j
      where j.state = 'leased' and j.key is not null
        and not exists (select 1 from pgflow_job_keys k where k.key = j.key and k.holder = j.id)",
    // The line of a key.
    "select 'job ' || j.id || ' is ready, but its key is held' from pgflow_jobs j
      where j.state = 'ready' and j.key in (select key from pgflow_job_keys)",
    "select 'job ' || j.id || ' is parked behind nobody' from pgflow_jobs j
      where j.state = 'parked' and (j.key is null or (
        j.key not in (select key from pgflow_job_keys) and not exists (
          select 1 from pgflow_jobs h
           where h.key = j.key and h.need = j.need and h.state = 'ready'
             and (h.priority > j.priority or (h.priority = j.priority and h.seq < j.seq)))))",
    "select 'job ' || min(j.id) || ' is one of ' || count(*) || ' heads of key ' || j.key from pgflow_jobs j
      where j.state = 'ready' and j.key is not null group by j.key, j.need having count(*) > 1",
    // The archive.
    "select 'job ' || id || ' is live and archived' from pgflow_job_archive where id in (select id from pgflow_jobs)",
    "select 'job ' || id || ' is ' || state || ' without a moment to wake' from pgflow_jobs
      where state = 'sleeping' and wake_at is null",
    // Rings.
    "with recursive walk (start, id) as (
       select waiter, dependency from pgflow_job_edges where kind = 'job'
        union
       select w.start, e.dependency from walk w join pgflow_job_edges e on e.waiter = w.id and e.kind = 'job'
        where w.id <> w.start
     )
     select 'job ' || start || ' waits for itself, through others' from walk where start = id",
];

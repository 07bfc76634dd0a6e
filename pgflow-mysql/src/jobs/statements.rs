//! The statements that write jobs.

use super::load::names;

/// The columns of a parameter with rows of jobs, and what became of those that have ended.
macro_rules! jobs {
    () => {
        "json_table(?, '$[*]' columns (
           number for ordinality,
           id varchar(256) character set utf8mb4 path '$.id', need varchar(256) character set utf8mb4 path '$.need',
           priority int path '$.priority', urgency bigint path '$.urgency',
           state varchar(16) character set utf8mb4 path '$.state', wake_at bigint path '$.wake_at',
           waits int unsigned path '$.waits', job_key varchar(256) character set utf8mb4 path '$.key',
           expires_at bigint path '$.expires_at', attempts int unsigned path '$.attempts',
           forgiven int unsigned path '$.forgiven', failures int unsigned path '$.failures',
           lapses int unsigned path '$.lapses', streak int unsigned path '$.streak',
           max_attempts int unsigned path '$.max_attempts',
           cancel longtext character set utf8mb4 path '$.cancel',
           settled varchar(191) character set utf8mb4 path '$.settled', created_at bigint path '$.created_at',
           payload longtext character set utf8mb4 path '$.payload',
           error longtext character set utf8mb4 path '$.error',
           outcome varchar(16) character set utf8mb4 path '$.outcome',
           output longtext character set utf8mb4 path '$.output')) k"
    };
}

macro_rules! columns {
    () => {
        "id, need, priority, urgency, state, wake_at, waits, job_key, expires_at, attempts, forgiven, failures, lapses,
         streak, max_attempts, cancel, settled, created_at"
    };
}

macro_rules! values {
    () => {
        "unhex(k.id), unhex(k.need), k.priority, k.urgency, k.state, k.wake_at, k.waits, unhex(k.job_key), k.expires_at,
         k.attempts, k.forgiven, k.failures, k.lapses, k.streak, k.max_attempts, k.cancel, k.settled, k.created_at"
    };
}

pub(super) const INSERT: &str = concat!(
    "insert into pgflow_jobs (",
    columns!(),
    ", payload, error) select ",
    values!(),
    ", k.payload, k.error from ",
    jobs!(),
    " order by k.number"
);

pub(super) const RESTORE: &str = concat!(
    "insert into pgflow_jobs (",
    columns!(),
    ", seq, payload, error) select ",
    values!(),
    ", a.seq, a.payload, a.error from ",
    jobs!(),
    " straight_join pgflow_job_archive a force index (primary) on a.id = unhex(k.id)"
);

pub(super) const FORGET: &str = concat!(
    "delete a from ",
    names!(),
    " straight_join pgflow_job_archive a force index (primary) on a.id = unhex(k.name)"
);

pub(super) const UPDATE: &str = concat!(
    "update ",
    jobs!(),
    " straight_join pgflow_jobs j force index (pgflow_jobs_id) on j.id = unhex(k.id)
        set j.need = unhex(k.need), j.priority = k.priority, j.urgency = k.urgency, j.state = k.state,
            j.wake_at = k.wake_at, j.waits = k.waits, j.job_key = unhex(k.job_key), j.expires_at = k.expires_at,
            j.attempts = k.attempts, j.forgiven = k.forgiven, j.failures = k.failures, j.lapses = k.lapses,
            j.streak = k.streak, j.max_attempts = k.max_attempts, j.cancel = k.cancel, j.settled = k.settled,
            j.payload = coalesce(k.payload, j.payload), j.error = coalesce(k.error, j.error)"
);

pub(super) const LEASE: &str = "
    insert into pgflow_job_leases (job, token, until, worker)
    select j.seq, k.token, k.until, k.worker
      from json_table(?, '$[*]' columns (
             id varchar(256) character set utf8mb4 path '$.id', token varchar(191) character set utf8mb4 path '$.token',
             until bigint path '$.until', worker varchar(191) character set utf8mb4 path '$.worker')) k
      straight_join pgflow_jobs j force index (pgflow_jobs_id) on j.id = unhex(k.id)
        on duplicate key update token = values(token), until = values(until), worker = values(worker)";

pub(super) const UNLEASE: &str = concat!(
    "delete l from ",
    names!(),
    " straight_join pgflow_jobs j force index (pgflow_jobs_id) on j.id = unhex(k.name)
      straight_join pgflow_job_leases l force index (primary) on l.job = j.seq"
);

pub(super) const OVER: &str = "
    delete e from json_table(?, '$[*]' columns (
             kind varchar(8) character set utf8mb4 path '$.kind', name varchar(256) character set utf8mb4 path '$.name')) k
      straight_join pgflow_job_edges e force index (primary) on e.kind = k.kind and e.dependency = unhex(k.name)";

pub(super) const FREED: &str = concat!(
    "delete e from ",
    names!(),
    " straight_join pgflow_job_edges e force index (pgflow_job_edges_waiter) on e.waiter = unhex(k.name)"
);

pub(super) const EDGES: &str = "
    insert into pgflow_job_edges (kind, dependency, waiter, policy)
    select k.kind, unhex(k.name), unhex(k.waiter), k.policy
      from json_table(?, '$[*]' columns (
             kind varchar(8) character set utf8mb4 path '$.kind', name varchar(256) character set utf8mb4 path '$.name',
             waiter varchar(256) character set utf8mb4 path '$.waiter',
             policy varchar(8) character set utf8mb4 path '$.policy')) k";

pub(super) const ARCHIVE: &str = concat!(
    "insert into pgflow_job_archive (",
    columns!(),
    ", seq, payload, error, outcome, output, ended_at) select ",
    values!(),
    ", j.seq, coalesce(k.payload, j.payload), coalesce(k.error, j.error), k.outcome, k.output, ? from ",
    jobs!(),
    " straight_join pgflow_jobs j force index (pgflow_jobs_id) on j.id = unhex(k.id)"
);

pub(super) const DELETE: &str = concat!(
    "delete j from ",
    names!(),
    " straight_join pgflow_jobs j force index (pgflow_jobs_id) on j.id = unhex(k.name)"
);

pub(super) const HOLD: &str = "
    update json_table(?, '$[*]' columns (
             name varchar(256) character set utf8mb4 path '$.name',
             holder varchar(256) character set utf8mb4 path '$.holder')) k
      straight_join pgflow_job_keys h force index (primary) on h.job_key = unhex(k.name)
       set h.holder = unhex(k.holder)";

pub(super) const FREE: &str = concat!(
    "delete h from ",
    names!(),
    " straight_join pgflow_job_keys h force index (primary) on h.job_key = unhex(k.name)"
);

pub(super) const TRACE: &str = "
    insert into pgflow_job_trace (job, at, kind, who, token, detail)
    select unhex(k.job), ?, k.kind, k.who, k.token, k.detail
      from json_table(?, '$[*]' columns (
             number for ordinality,
             job varchar(256) character set utf8mb4 path '$.job', kind varchar(16) character set utf8mb4 path '$.kind',
             who varchar(191) character set utf8mb4 path '$.by', token varchar(191) character set utf8mb4 path '$.token',
             detail longtext character set utf8mb4 path '$.detail')) k
     order by k.number";

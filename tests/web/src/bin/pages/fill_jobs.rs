//! Many live jobs, of twenty needs: one in a hundred sleeps, one in a hundred thousand is a concern. To ten of them there is a
//! dead one.

use pgflow_web_tests::Outcome;
use sqlx::{AssertSqlSafe, Connection, MySqlConnection, PgConnection, SqliteConnection};

/// Jobs per statement.
const CHUNK: u32 = 50_000;

pub(crate) async fn fill_jobs(url: &str, jobs: u32) -> Outcome {
    let chunks =
        (1..=jobs).step_by(CHUNK as usize).map(|first| (first, jobs.min(first + CHUNK - 1)));
    if url.starts_with("sqlite:") {
        let mut file = SqliteConnection::connect(url).await?;
        for (first, last) in chunks {
            sqlx::raw_sql(AssertSqlSafe(of_sqlite(first, last))).execute(&mut file).await?;
        }
        sqlx::raw_sql("pragma wal_checkpoint(truncate)").execute(&mut file).await?;
        return Ok(file.close().await?);
    }
    if url.starts_with("mysql:") {
        let mut server = MySqlConnection::connect(url).await?;
        for (first, last) in chunks {
            sqlx::raw_sql(AssertSqlSafe(of_mysql(first, last))).execute(&mut server).await?;
        }
        sqlx::raw_sql("analyze table pgflow_jobs, pgflow_job_archive").execute(&mut server).await?;
        return Ok(server.close().await?);
    }
    let mut server = PgConnection::connect(url).await?;
    for (first, last) in chunks {
        sqlx::raw_sql(AssertSqlSafe(of_postgres(first, last))).execute(&mut server).await?;
    }
    sqlx::raw_sql("vacuum analyze pgflow.jobs, pgflow.job_archive").execute(&mut server).await?;
    Ok(server.close().await?)
}

/// What a job is, by its number.
const STATE: &str =
    "case when k % 100000 = 0 then 'concern' when k % 100 = 0 then 'sleeping' else 'ready' end";

/// How a dead one ended.
const OUTCOME: &str = "case when k % 500 = 0 then 'crashed' else 'failed' end";

fn of_sqlite(first: u32, last: u32) -> String {
    format!(
        "begin immediate;
         insert into pgflow_jobs (id, need, payload, priority, state, wake_at, waits, attempts, forgiven, failures, lapses, streak, created_at)
           with recursive c (k) as (values ({first}) union all select k + 1 from c where k < {last})
           select 'job-' || k, 'need-' || (k % 20), '1', 0, {STATE}, iif(k % 100 = 0 and k % 100000 <> 0, 4000000000000000, null),
                  0, 0, 0, 0, 0, 0, 1790000000000000 + k from c;
         insert into pgflow_job_archive (id, seq, need, payload, priority, state, waits, attempts, forgiven, failures, lapses, streak,
                error, created_at, outcome, ended_at)
           with recursive c (k) as (values ({first}) union all select k + 1 from c where k < {last})
           select 'dead-' || k, 10000000 + k, 'need-' || (k / 10 % 20), '1', 0, 'ready', 0, 1, 0, 1, 0, 0, 'no answer',
                  1790000000000000 + k, {OUTCOME}, 1790000000000000 + k from c where k % 10 = 0;
         commit"
    )
}

fn of_postgres(first: u32, last: u32) -> String {
    format!(
        "insert into pgflow.jobs (id, need, payload, state, wake_at)
           select 'job-' || k, 'need-' || (k % 20), '1', {STATE},
                  case when k % 100 = 0 and k % 100000 <> 0 then timestamptz '2096-10-02' end
             from generate_series({first}, {last}) k;
         insert into pgflow.job_archive (id, seq, need, payload, priority, attempts, failures, lapses, streak, error, created_at, outcome,
                archived_at)
           select 'dead-' || k, 10000000 + k, 'need-' || (k / 10 % 20), '1', 0, 1, 1, 0, 0, 'no answer', d.at, {OUTCOME}, d.at
             from generate_series({first}, {last}) k
             cross join lateral (select timestamptz '2026-09-21' + k * interval '1 second' as at) d where k % 10 = 0"
    )
}

fn of_mysql(first: u32, last: u32) -> String {
    format!(
        "insert into pgflow_jobs (id, need, payload, priority, urgency, state, wake_at, waits, attempts, forgiven, failures, lapses, streak, created_at)
           select concat('job-', k), concat('need-', k % 20), '1', 0, 0, {STATE},
                  if(k % 100 = 0 and k % 100000 <> 0, 4000000000000000, null), 0, 0, 0, 0, 0, 0, 1790000000000000 + k
             from (select seq as k from seq_{first}_to_{last}) n;
         insert into pgflow_job_archive (id, seq, need, payload, priority, urgency, state, waits, attempts, forgiven, failures, lapses,
                streak, error, created_at, outcome, ended_at)
           select concat('dead-', k), 10000000 + k, concat('need-', k div 10 % 20), '1', 0, 0, 'ready', 0, 1, 0, 1, 0, 0, 'no answer',
                  1790000000000000 + k, {OUTCOME}, 1790000000000000 + k
             from (select seq as k from seq_{first}_to_{last}) n where k % 10 = 0"
    )
}

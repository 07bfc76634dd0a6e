//! Many live jobs, of twenty needs: one in a hundred sleeps, one in a hundred thousand is a concern.

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
        sqlx::raw_sql("analyze table pgflow_jobs").execute(&mut server).await?;
        return Ok(server.close().await?);
    }
    let mut server = PgConnection::connect(url).await?;
    for (first, last) in chunks {
        sqlx::raw_sql(AssertSqlSafe(of_postgres(first, last))).execute(&mut server).await?;
    }
    sqlx::raw_sql("vacuum analyze pgflow.jobs").execute(&mut server).await?;
    Ok(server.close().await?)
}

/// What a job is, by its number.
const STATE: &str =
    "case when k % 100000 = 0 then 'concern' when k % 100 = 0 then 'sleeping' else 'ready' end";

fn of_sqlite(first: u32, last: u32) -> String {
    format!(
        "begin immediate;
         insert into pgflow_jobs (id, need, payload, priority, state, wake_at, waits, attempts, forgiven, failures, lapses, streak, created_at)
           with recursive c (k) as (values ({first}) union all select k + 1 from c where k < {last})
           select 'job-' || k, 'need-' || (k % 20), '1', 0, {STATE}, iif(k % 100 = 0 and k % 100000 <> 0, 4000000000000000, null),
                  0, 0, 0, 0, 0, 0, 1790000000000000 + k from c;
         commit"
    )
}

fn of_postgres(first: u32, last: u32) -> String {
    format!(
        "insert into pgflow.jobs (id, need, payload, state, wake_at)
           select 'job-' || k, 'need-' || (k % 20), '1', {STATE},
                  case when k % 100 = 0 and k % 100000 <> 0 then timestamptz '2096-10-02' end
             from generate_series({first}, {last}) k"
    )
}

fn of_mysql(first: u32, last: u32) -> String {
    format!(
        "insert into pgflow_jobs (id, need, payload, priority, urgency, state, wake_at, waits, attempts, forgiven, failures, lapses, streak, created_at)
           select concat('job-', k), concat('need-', k % 20), '1', 0, 0, {STATE},
                  if(k % 100 = 0 and k % 100000 <> 0, 4000000000000000, null), 0, 0, 0, 0, 0, 0, 1790000000000000 + k
             from (select seq as k from seq_{first}_to_{last}) n"
    )
}

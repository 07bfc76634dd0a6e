//! Many runs, made by copying the rows of the one that is there: over the last thirty days, one in a thousand failed.

use pgflow_web_tests::Outcome;
use sqlx::{AssertSqlSafe, Connection, MySqlConnection, PgConnection, SqliteConnection};

/// Runs per statement.
const CHUNK: u32 = 50_000;
const MICROS: i64 = 30 * 86_400 * 1_000_000;

pub(crate) async fn fill(url: &str, runs: u32) -> Outcome {
    let apart = MICROS / i64::from(runs);
    if url.starts_with("sqlite:") {
        let mut file = SqliteConnection::connect(url).await?;
        for first in (1..=runs).step_by(CHUNK as usize) {
            let last = runs.min(first + CHUNK - 1);
            sqlx::raw_sql(AssertSqlSafe(of_sqlite(first, last, apart))).execute(&mut file).await?;
        }
        sqlx::raw_sql("pragma wal_checkpoint(truncate)").execute(&mut file).await?;
        return Ok(file.close().await?);
    }
    if url.starts_with("mysql:") {
        let mut server = MySqlConnection::connect(url).await?;
        for first in (1..=runs).step_by(CHUNK as usize) {
            let last = runs.min(first + CHUNK - 1);
            sqlx::raw_sql(AssertSqlSafe(of_mysql(first, last, apart))).execute(&mut server).await?;
        }
        sqlx::raw_sql("analyze table pgflow_runs, pgflow_steps, pgflow_tasks")
            .execute(&mut server)
            .await?;
        return Ok(server.close().await?);
    }
    let mut server = PgConnection::connect(url).await?;
    sqlx::raw_sql("set session_replication_role = replica").execute(&mut server).await?;
    for first in (1..=runs).step_by(CHUNK as usize) {
        let last = runs.min(first + CHUNK - 1);
        sqlx::raw_sql(AssertSqlSafe(of_postgres(first, last, apart))).execute(&mut server).await?;
    }
    sqlx::raw_sql("vacuum analyze").execute(&mut server).await?;
    Ok(server.close().await?)
}

/// The template is the first run; a copy's numbers follow from how many there are before it.
fn of_sqlite(first: u32, last: u32, apart: i64) -> String {
    format!(
        "begin immediate;
         create temp table if not exists n (k integer primary key);
         create temp table if not exists task as select * from pgflow_tasks;
         delete from n;
         with recursive c (k) as (values ({first}) union all select k + 1 from c where k < {last}) insert into n select k from c;
         insert into pgflow_runs (id, run_id, flow, status, remaining_steps, last_seq, started_at, ended_at)
           select r.id + n.k, unhex(printf('%012x70008000%012x', (r.started_at - n.k * {apart}) / 1000, n.k)), r.flow,
                  iif(n.k % 1000 = 0, 'failed', r.status), 0, r.last_seq, r.started_at - n.k * {apart}, r.ended_at - n.k * {apart}
             from n cross join pgflow_runs r where r.id = 1;
         insert into pgflow_run_data select d.run + n.k, d.input, d.output from n cross join pgflow_run_data d where d.run = 1;
         insert into pgflow_steps (id, slug, status, remaining_deps, tasks, remaining_tasks, first_task, started_at, ended_at, skip_reason, error, output)
           select s.id + n.k * 65536, s.slug, s.status, s.remaining_deps, s.tasks, s.remaining_tasks, s.first_task + n.k * 100,
                  s.started_at, s.ended_at, s.skip_reason, s.error, s.output
             from n cross join pgflow_steps s where s.id between 65536 and 131071;
         insert into pgflow_tasks (id, step, task_index, queue, status, attempts, output)
           select t.id + n.k * 100, t.step + n.k * 65536, t.task_index, t.queue, t.status, t.attempts, t.output
             from n cross join task t;
         insert into pgflow_events select e.run + n.k, e.seq, e.at, e.entry from n cross join pgflow_events e where e.run = 1;
         commit"
    )
}

fn of_postgres(first: u32, last: u32, apart: i64) -> String {
    format!(
        "begin;
         create temp table if not exists template as select * from pgflow.runs;
         create temp table if not exists n (k int, id uuid, ago interval);
         truncate n;
         insert into n select k, (lpad(to_hex((extract(epoch from t.started_at) * 1000 - k * {apart}::numeric / 1000)::bigint), 12, '0')
                || '70008000' || lpad(to_hex(k), 12, '0'))::uuid, k * {apart} * interval '1 microsecond'
           from generate_series({first}::bigint, {last}) k cross join template t;
         insert into pgflow.runs (run_id, flow_slug, status, input, output, remaining_steps, started_at, completed_at, failed_at)
           select n.id, t.flow_slug, case when n.k % 1000 = 0 then 'failed' else t.status end, t.input,
                  case when n.k % 1000 = 0 then null else t.output end, 0, t.started_at - n.ago,
                  case when n.k % 1000 = 0 then null else t.completed_at - n.ago end,
                  case when n.k % 1000 = 0 then t.completed_at - n.ago end
             from n cross join template t;
         insert into pgflow.step_states (run_id, flow_slug, step_slug, status, remaining_deps, initial_tasks, remaining_tasks,
                output, skip_reason, created_at, started_at, completed_at, skipped_at)
           select n.id, s.flow_slug, s.step_slug, s.status, s.remaining_deps, s.initial_tasks, s.remaining_tasks,
                  s.output, s.skip_reason, s.created_at, s.started_at, s.completed_at, s.skipped_at
             from n cross join template t join pgflow.step_states s on s.run_id = t.run_id;
         insert into pgflow.step_tasks (run_id, flow_slug, step_slug, task_index, status, attempts_count, output, queued_at, started_at, completed_at)
           select n.id, s.flow_slug, s.step_slug, s.task_index, s.status, s.attempts_count, s.output, s.queued_at, s.started_at, s.completed_at
             from n cross join template t join pgflow.step_tasks s on s.run_id = t.run_id;
         insert into pgflow.event_log (run_id, last_seq, events, details, at)
           select n.id, e.last_seq, e.events, e.details, e.at
             from n cross join template t join pgflow.event_log e on e.run_id = t.run_id;
         commit"
    )
}

/// A sequence of MariaDB counts; the template is what is in the temporary tables.
fn of_mysql(first: u32, last: u32, apart: i64) -> String {
    format!(
        "create temporary table if not exists r0 as select * from pgflow_runs;
         create temporary table if not exists d0 as select * from pgflow_run_data;
         create temporary table if not exists s0 as select * from pgflow_steps;
         create temporary table if not exists t0 as select * from pgflow_tasks;
         create temporary table if not exists e0 as select * from pgflow_events;
         create temporary table if not exists n (k bigint primary key, id binary(16) not null);
         truncate n;
         insert into n select s.seq, unhex(concat(lpad(hex((r0.started_at - s.seq * {apart}) div 1000), 12, '0'), '70008000', lpad(hex(s.seq), 12, '0')))
           from seq_{first}_to_{last} s cross join r0;
         start transaction;
         insert into pgflow_runs (id, flow, status, remaining_steps, last_seq, started_at, ended_at, output_steps, cancel_reason)
           select n.id, r.flow, if(n.k % 1000 = 0, 'failed', r.status), 0, r.last_seq, r.started_at - n.k * {apart},
                  r.ended_at - n.k * {apart}, r.output_steps, r.cancel_reason
             from n cross join r0 r order by n.id;
         insert into pgflow_run_data select n.id, d.input_bytes, d.input from n cross join d0 d order by n.id;
         insert into pgflow_steps
           select n.id, s.step, s.status, s.remaining_deps, s.tasks, s.remaining_tasks, s.started_at, s.ended_at,
                  s.skip_reason, s.output_bytes, s.error
             from n cross join s0 s order by n.id;
         insert into pgflow_tasks (run, step, task_index, queue, status, ready_at, lost_at, attempts, refunded, losses,
                                   started_at, worker, error, input, output)
           select n.id, t.step, t.task_index, t.queue, t.status, t.ready_at, t.lost_at, t.attempts, t.refunded, t.losses,
                  t.started_at, t.worker, t.error, t.input, t.output
             from n cross join t0 t order by n.id;
         insert into pgflow_events select n.id, e.seq, e.at, e.entry from n cross join e0 e order by n.id;
         commit"
    )
}

//! Removes what a case left, so that the next one starts from the same state.

use sqlx::AssertSqlSafe;

use crate::error::{Doing, Result};
use crate::target::Target;

/// Drops the flows of this benchmark with their runs and queues, and makes the space usable again.
pub(crate) async fn flows(target: &mut Target) -> Result<()> {
    if !target.abilities.delete_flow {
        return Ok(());
    }
    let conn = &mut target.probe.conn;
    if target.owned {
        let tables = run_tables(conn).await?;
        let truncate = format!("truncate {}", tables.join(", "));
        sqlx::query(AssertSqlSafe(truncate))
            .execute(&mut *conn)
            .await
            .doing("emptying the run tables")?;
    }
    sqlx::query("select pgflow.delete_flow_and_data(flow_slug) from pgflow.flows where flow_slug like 'pgflow\\_bench\\_%'")
        .execute(&mut *conn)
        .await
        .doing("deleting the flows of the last case")?;
    if !target.owned {
        vacuum(target).await?;
    }
    checkpoint(target).await;
    Ok(())
}

/// Removes the jobs of this benchmark, live and archived, with their traces.
pub(crate) async fn jobs(target: &mut Target) -> Result<()> {
    let like = format!("like '{}%'", target.names.prefix);
    let script = match (target.abilities.jobs, target.owned) {
        (true, true) => "truncate pgflow.jobs, pgflow.job_edges, pgflow.job_keys, pgflow.job_key_notes, pgflow.job_wakes, pgflow.job_archive, pgflow.job_trace, pgflow.job_messages".to_owned(),
        (true, false) => format!(
            // The trace of a submission has no name, only the job's place.
            "delete from pgflow.job_trace where job {like} or job is null and trace_id in (
               select seq from pgflow.jobs where id {like} union all select seq from pgflow.job_archive where id {like});
             delete from pgflow.jobs where id {like}; delete from pgflow.job_edges where waiter {like};
             delete from pgflow.job_messages where job {like}; delete from pgflow.job_archive where id {like}"
        ),
        (false, _) if target.abilities.pgwf => format!(
            "delete from pgwf.jobs where job_id {like}; delete from pgwf.jobs_archive where job_id {like};
             delete from pgwf.jobs_trace where job_id {like}"
        ),
        _ => return Ok(()),
    };
    let conn = &mut target.probe.conn;
    sqlx::raw_sql(AssertSqlSafe(script))
        .execute(conn)
        .await
        .doing("removing the jobs of the last case")?;
    if target.owned { Ok(()) } else { analyze(target).await }
}

/// Lets the planner know of what was filled in, and makes the space of what is gone usable again.
pub(crate) async fn analyze(target: &mut Target) -> Result<()> {
    let conn = &mut target.probe.conn;
    sqlx::query("vacuum analyze").execute(conn).await.doing("vacuuming the tables")?;
    Ok(())
}

/// All of the core's tables that belong to runs, parents first.
pub(crate) async fn run_tables(conn: &mut sqlx::PgConnection) -> Result<Vec<String>> {
    sqlx::query_scalar(
        "select format('%I.%I', n.nspname, c.relname)
         from pg_class c
         join pg_namespace n on n.oid = c.relnamespace
         join pg_attribute a on a.attrelid = c.oid and a.attname = 'run_id' and not a.attisdropped
         where n.nspname = 'pgflow' and c.relkind in ('r', 'p') and not c.relispartition
         order by array_position(array['runs', 'step_states', 'step_tasks']::name[], c.relname) nulls last, c.relname",
    )
    .fetch_all(conn)
    .await
    .doing("listing the core's tables")
}

async fn vacuum(target: &mut Target) -> Result<()> {
    let conn = &mut target.probe.conn;
    for table in run_tables(conn).await? {
        let vacuum = format!("vacuum {table}");
        sqlx::query(AssertSqlSafe(vacuum))
            .execute(&mut *conn)
            .await
            .doing(format!("vacuuming {table}"))?;
    }
    Ok(())
}

/// Needs a privilege that not every user has; without it the figures only vary a little more.
pub(crate) async fn checkpoint(target: &mut Target) {
    let done = sqlx::query("checkpoint").execute(&mut target.probe.conn).await;
    if let Err(error) = done {
        eprintln!("note: no checkpoint before the next case: {error}");
    }
}

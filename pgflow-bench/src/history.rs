//! Many finished runs, made by copying the rows of one that really finished.
//!
//! Works on any core: every table with a `run_id` is copied, whatever else is in it.

use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use crate::cases::Context;
use crate::cleanup::run_tables;
use crate::drive::drain;
use crate::error::{Doing, Result};
use crate::flow;
use crate::target::Target;

/// Runs per statement, so that no transaction gets huge.
const CHUNK: u32 = 50_000;

/// One run of the diamond, worked off.
pub(crate) async fn finished_run(context: &mut Context<'_>, slug: &str) -> Result<Uuid> {
    let driver = context.driver(slug);
    let target = &mut *context.target;
    let run = flow::start(&mut target.probe.conn, slug, &flow::input(0, context.seed)).await?;
    drain(&mut target.lanes, &driver, flow::DIAMOND_TASKS, context.sizes.window).await?;
    Ok(run)
}

/// Copies `template` until there are `runs` more like it.
pub(crate) async fn copy(target: &mut Target, slug: &str, template: Uuid, runs: u32) -> Result<()> {
    let conn = &mut target.probe.conn;
    let skip_triggers = "set session_replication_role = replica";
    let is_fast = sqlx::query(skip_triggers).execute(&mut *conn).await.is_ok();
    let statements = statements(conn, slug).await?;
    let mut left = runs;
    while left > 0 {
        let chunk = left.min(CHUNK);
        new_ids(conn, template, chunk).await?;
        for statement in &statements {
            let copy = sqlx::query(AssertSqlSafe(statement.clone())).bind(template);
            copy.execute(&mut *conn).await.doing("copying finished runs")?;
        }
        left -= chunk;
    }
    if is_fast {
        sqlx::query("reset session_replication_role")
            .execute(&mut *conn)
            .await
            .doing("going back to normal")?;
    }
    sqlx::query("vacuum analyze").execute(conn).await.doing("analyzing the history")?;
    Ok(())
}

/// Of the kind the core gives out: ids in order of time fill an index differently from random ones.
async fn new_ids(conn: &mut PgConnection, like: Uuid, count: u32) -> Result<()> {
    let table =
        "create unlogged table if not exists pgflow_bench.ids (id uuid); truncate pgflow_bench.ids";
    sqlx::raw_sql(table).execute(&mut *conn).await.doing("preparing run ids")?;
    let is_ordered = like.get_version_num() == 7;
    let ids: Vec<Uuid> =
        (0..count).map(|_| if is_ordered { Uuid::now_v7() } else { Uuid::new_v4() }).collect();
    sqlx::query("insert into pgflow_bench.ids select unnest($1::uuid[])")
        .bind(ids)
        .execute(conn)
        .await
        .doing("making run ids")?;
    Ok(())
}

/// One INSERT per table, and one for the archived messages.
async fn statements(conn: &mut PgConnection, slug: &str) -> Result<Vec<String>> {
    let mut statements = Vec::new();
    for table in run_tables(conn).await? {
        let columns: Vec<String> = sqlx::query_scalar(COLUMNS)
            .bind(&table)
            .fetch_all(&mut *conn)
            .await
            .doing("listing columns")?;
        statements.push(copy_rows(&table, &columns, slug));
    }
    statements.push(archive_messages(slug));
    Ok(statements)
}

/// All columns that the table does not fill by itself.
const COLUMNS: &str = "select quote_ident(a.attname) from pg_attribute a
     left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = $1::text::regclass and a.attnum > 0 and not a.attisdropped
       and a.attname <> 'run_id' and a.attidentity = '' and a.attgenerated = ''
       and coalesce(pg_get_expr(d.adbin, d.adrelid), '') not like 'nextval(%'";

/// A message id of its own for each task, as in a real queue.
fn copy_rows(table: &str, columns: &[String], slug: &str) -> String {
    let next_id = format!(
        "case when t.message_id is not null then nextval(pg_get_serial_sequence('pgmq.q_{slug}', 'msg_id')) end"
    );
    let value = |column: &String| match column.as_str() {
        "message_id" => next_id.clone(),
        _ => format!("t.{column}"),
    };
    let values: Vec<String> = columns.iter().map(value).collect();
    format!(
        "insert into {table} (run_id, {}) select i.id, {} from pgflow_bench.ids i cross join {table} t where t.run_id = $1",
        columns.join(", "),
        values.join(", ")
    )
}

fn archive_messages(slug: &str) -> String {
    format!(
        "insert into pgmq.a_{slug} (msg_id, read_ct, enqueued_at, vt, message)
         select t.message_id, 1, t.queued_at, t.queued_at, jsonb_build_object(
             'flow_slug', t.flow_slug, 'run_id', t.run_id, 'step_slug', t.step_slug, 'task_index', t.task_index)
         from pgflow.step_tasks t join pgflow_bench.ids i on i.id = t.run_id
         where t.message_id is not null and t.run_id <> $1"
    )
}

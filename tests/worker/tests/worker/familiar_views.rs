//! The views of docs/sql-world.md: all columns that stand there, and what a run leaves in them.

use pgflow::prelude::*;
use pgflow::wait::WaitingFor;
use pgflow_machine::job::NewJob;
use pgflow_worker_tests::{Fresh, Outcome, Working, on};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Column as _, Connection as _, Row as _};

use crate::waits::until;

#[flow(input = u32)]
mod familiar {
    use super::{Emit, Hook, Result, Waiting};

    #[step]
    pub(crate) async fn say(run: u32, out: Emit<u32>) -> Result<u32> {
        out.send(run + 1).await?;
        Ok(run)
    }

    #[step(depends_on = [say], wait_timeout = "7d")]
    pub(crate) async fn ask(say: u32, hook: Hook<u32>) -> Result<Waiting<u32>> {
        assert_eq!(say, 7, "what the run was given");
        Ok(hook.wait())
    }
}

/// Twice of each.
#[flow(input = Vec<u32>)]
mod twice {
    use super::Result;

    #[step(map)]
    pub(crate) async fn each(item: u32) -> Result<u32> {
        Ok(item * 2)
    }

    #[step(depends_on = [each])]
    pub(crate) async fn sum(each: Vec<u32>) -> Result<u32> {
        Ok(each.iter().sum())
    }

    #[step(map)]
    pub(crate) async fn beside(item: u32) -> Result<u32> {
        Ok(item)
    }
}

#[flow(input = u32, max_attempts = 1)]
mod broken {
    use super::Result;

    #[step]
    pub(crate) async fn bust(run: u32) -> Result<u32> {
        Err(format!("no {run}").into())
    }
}

const PAGE: &str = include_str!("../../../../docs/sql-world.md");

/// Views and their columns, as the page has them.
fn documented() -> Vec<(&'static str, Vec<String>)> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `workflow_"));
    let view = |row: &'static str| {
        let (name, rest) = row.split_once("` | ").expect("a name and columns");
        // What stands in brackets is about a column.
        let outside = rest.split('(').map(|part| part.split_once(')').map_or(part, |(_, it)| it));
        let outside: String = outside.collect();
        (name, outside.split('`').skip(1).step_by(2).map(str::to_owned).collect())
    };
    rows.map(view).collect()
}

/// The first row of a query: names, and values as texts.
async fn first(fresh: &Fresh, sql: String) -> Outcome<Vec<(String, Option<String>)>> {
    with_connection!(fresh, connection => {
        let row = sqlx::query(AssertSqlSafe(sql)).fetch_one(&mut connection).await?;
        let value = |at: usize| row.try_get::<Option<String>, _>(at);
        let names = row.columns().iter().map(|column| column.name().to_owned());
        names.enumerate().map(|(at, name)| Ok((name, value(at)?))).collect()
    })
}

/// Names of all columns of a view.
async fn columns(fresh: &Fresh, view: &str) -> Outcome<Vec<String>> {
    let sql = format!("select * from {view}");
    with_connection!(fresh, connection => {
        let row = sqlx::query(AssertSqlSafe(sql)).fetch_one(&mut connection).await?;
        Ok(row.columns().iter().map(|column| column.name().to_owned()).collect())
    })
}

async fn views_have_what_the_page_says(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    let working = fresh.work(familiar::Flow).await?;
    let run = db.start(familiar::Flow, 7).await?;
    let hook = until(async || run.hooks().await.ok()?.pop()).await;
    let WaitingFor::Hook { token: Some(token) } = &hook.on else {
        panic!("{:?} is a hook", hook.task)
    };
    let job = NewJob::new("a job".parse()?, "mail", 1);
    db.backend().jobs()?.submit_jobs(&[job], "me").await?.remove(0)?;
    working.stop().await?;

    let is_postgres = fresh.url.starts_with("postgres");
    let prefix = if is_postgres { "pgflow.workflow_" } else { "workflow_" };
    let views = documented();
    assert_eq!(views.len(), 6, "{views:?}");
    for (view, expected) in views {
        assert_eq!(columns(&fresh, &format!("{prefix}{view}")).await?, expected, "{view}");
    }
    let id = run.id().to_string();
    for (view, column, condition, expected) in [
        ("runs", "run_id", "true", &*id),
        ("runs", "workflow_name", "true", "familiar"),
        ("runs", "status", "true", "started"),
        ("runs", "input", "true", "7"),
        ("steps", "run_id", "true", &id),
        ("steps", "status", "step_name = 'say'", "completed"),
        ("steps", "output", "step_name = 'say'", "7"),
        ("steps", "status", "step_name = 'ask'", "started"),
        ("events", "event_type", "seq = 1", "run:started"),
        ("events", "step_name", "event_type = 'step:waiting'", "ask"),
        ("hooks", "token", "true", token.as_str()),
        ("hooks", "run_id", "true", &id),
        ("hooks", "step_name", "true", "ask"),
        ("hooks", "task_index", "true", "0"),
        ("hooks", "attempt", "expires_at > created_at", "1"),
        ("stream_chunks", "run_id", "stream_name = 'say'", &id),
        ("stream_chunks", "number", "stream_name = 'say'", "0"),
        ("jobs", "need", "job_id = 'a job'", "mail"),
        ("jobs", "payload", "job_id = 'a job'", "1"),
        ("jobs", "status", "job_id = 'a job'", "ready"),
    ] {
        let text = if fresh.url.starts_with("mysql") { "char" } else { "text" };
        let sql = format!(
            "select cast({column} as {text}) as found from {prefix}{view} where {condition}"
        );
        let found = first(&fresh, sql).await?;
        let expected = [("found".to_owned(), Some(expected.to_owned()))];
        assert_eq!(found, expected, "{view}.{column} where {condition}");
    }

    db.signal_step::<familiar::ask>(run.id(), &1).await?;
    let open = format!("select cast(count(*) as char(1)) as open from {prefix}hooks");
    let open = first(&fresh, open).await?;
    assert_eq!(open[0].1.as_deref(), Some("0"), "nobody waits any more");
    Ok(())
}

/// What has ended, with what came out of it.
async fn views_have_outputs(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.register(broken::Flow).await?;
    let working = fresh.work(twice::Flow).await?;
    let worker = Working::start(Worker::new(db).flow(broken::Flow));
    let run = db.start(twice::Flow, (1..=12).collect::<Vec<u32>>()).await?;
    let empty = db.start(twice::Flow, vec![]).await?;
    let failed = db.start(broken::Flow, 7).await?;
    assert_eq!(run.output().await?.sum, 156);
    empty.output().await?;
    failed.wait().await?;
    worker.stop().await?;
    working.stop().await?;
    let job = NewJob::new("gone".parse()?, "mail", 1);
    db.backend().jobs()?.submit_jobs(&[job], "me").await?.remove(0)?;
    db.job(&"gone".parse()?).cancel("not wanted").await?;

    let is_postgres = fresh.url.starts_with("postgres");
    let prefix = if is_postgres { "pgflow.workflow_" } else { "workflow_" };
    let (each, all) =
        (json!((1..=12).map(|n| n * 2).collect::<Vec<_>>()), json!((1..=12).collect::<Vec<_>>()));
    let output = json!({ "sum": 156, "beside": all });
    let text = if fresh.url.starts_with("mysql") { "char" } else { "text" };
    let [run, empty, failed] =
        [run.id(), empty.id(), failed.id()].map(|id| format!("run_id = '{id}'"));
    let step = |run: &str, step: &str| format!("{run} and step_name = '{step}'");
    let happened = |run: &str, kind: &str| format!("{run} and event_type = '{kind}'");
    let ended =
        |kind: &str, step: &str| happened(&run, kind) + &format!(" and step_name = '{step}'");
    for (view, column, condition, expected) in [
        ("runs", "output", run.clone(), output.clone()),
        ("runs", "output", empty.clone(), json!({ "sum": 0, "beside": [] })),
        ("runs", "output", failed.clone(), json!(null)),
        ("runs", "error", failed.clone(), json!("no 7")),
        ("steps", "output", step(&run, "each"), each.clone()),
        ("steps", "output", step(&run, "sum"), json!(156)),
        ("steps", "output", step(&empty, "each"), json!([])),
        ("steps", "error", step(&failed, "bust"), json!("no 7")),
        ("events", "payload", happened(&run, "run:started"), json!({ "input": all })),
        ("events", "payload", happened(&run, "run:completed"), json!({ "output": output })),
        ("events", "payload", ended("step:completed", "each"), json!({ "output": each })),
        ("events", "payload", ended("step:completed", "sum"), json!({ "output": 156 })),
        ("jobs", "status", "job_id = 'gone'".to_owned(), json!("cancelled")),
        ("jobs", "output", "job_id = 'gone'".to_owned(), json!(null)),
    ] {
        let sql = format!(
            "select cast({column} as {text}) as found from {prefix}{view} where {condition}"
        );
        let found = first(&fresh, sql).await?.remove(0).1;
        let is_text = matches!(column, "error" | "status");
        let found = match found {
            Some(text) if is_text => json!(text),
            Some(text) => serde_json::from_str(&text)?,
            None => json!(null),
        };
        let is_as_expected = match (&expected, &found) {
            // On Postgres a payload says more.
            (Value::Object(fields), Value::Object(more)) if column == "payload" => {
                fields.iter().all(|(name, value)| more.get(name) == Some(value))
                    && !more.contains_key("event")
            }
            _ => expected == found,
        };
        assert!(is_as_expected, "{view}.{column} where {condition}: {found}, not {expected}");
    }
    let said = |column: &str, condition: String| {
        format!("select cast({column} as {text}) as found from {prefix}events where {condition}")
    };
    let failure = first(&fresh, said("payload", happened(&failed, "step:failed"))).await?;
    let failure = failure[0].1.clone().unwrap_or_default();
    assert!(failure.contains("no 7") && !failure.contains("\"event\""), "{failure}");
    Ok(())
}

on!(sqlite: views_have_what_the_page_says, views_have_outputs);
on!(mysql: views_have_what_the_page_says, views_have_outputs);
on!(postgres: views_have_what_the_page_says, views_have_outputs);

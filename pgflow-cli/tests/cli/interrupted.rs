//! Ctrl-C: a clean end, and what was done is said.

use std::path::Path;
use std::time::Duration;

use pgflow::RunStatus;
use pgflow::backend::RunQuery;
use pgflow_worker_tests::{Fresh, Outcome};
use serde_json::{Value, json as value};

use crate::place::{Scratch, change, json, sums};
use crate::serving::Running;

/// What SQLite keeps beside a file while it is open.
fn is_alone(file: &Path) -> bool {
    ["-wal", "-shm"].iter().all(|end| !Path::new(&format!("{}{end}", file.display())).exists())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_beside_a_file_after_ctrl_c() -> Outcome {
    let dir = Scratch::new("interrupted")?;
    let (url, file) = (dir.sqlite("app.db"), dir.path().join("app.db"));
    let db = pgflow::Db::connect(&url).await?;
    db.migrate().await?;
    db.register(sums::Flow).await?;
    db.close().await?;
    assert!(is_alone(&file));

    let tail = Running::start(&url, &["tail", "--json", "--flow", "sums"])?;
    let printed = loop {
        json(&url, &["start", "sums", "[1]"]).await;
        if let Some(line) = tail.line_within(Duration::from_secs(1)) {
            break line;
        }
    };
    assert!(printed.contains("run:started"), "{printed}");
    assert_eq!(tail.end("INT")?, 0, "that is how one stops to follow all");
    assert!(is_alone(&file), "after tail");

    let waiting = Running::start(&url, &["start", "sums", "[7]", "--key", "waited", "--wait"])?;
    while json(&url, &["ls"]).await["runs"].as_array().is_none_or(|runs| runs.len() < 2) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(waiting.end("INT")?, 130);
    assert!(is_alone(&file), "after start --wait");
    Ok(())
}

/// As if each change took a while.
const SLOW: &str = "
    create trigger slow before update on pgflow_runs when new.status = 'cancelled'
    begin
      select (with recursive n (i) as (select 1 union all select i + 1 from n where i < 200000) select max(i) from n);
    end;
    create trigger slow_delete before delete on pgflow_runs
    begin
      select (with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000) select max(i) from n);
    end";

#[tokio::test(flavor = "multi_thread")]
async fn what_was_done_before_ctrl_c_is_said() -> Outcome {
    let place = Fresh::sqlite().await?;
    let url = &*place.url;
    place.db.register(sums::Flow).await?;
    for n in 0..300 {
        place.db.start(sums::Flow, &vec![n]).await?;
    }
    change(url, SLOW, "").await?;
    let cancelled = async || -> Outcome<usize> {
        let ended = json(url, &["ls", "--status", "cancelled", "--limit", "1000"]).await;
        Ok(ended["runs"].as_array().ok_or("runs")?.len())
    };
    let cancelling = Running::start(url, &["cancel", "--flow", "sums", "--yes", "--json"])?;
    while cancelled().await? == 0 {}
    cancelling.signal("INT")?;
    let printed: Value = serde_json::from_str(cancelling.rest().first().ok_or("a line")?)?;
    let done = printed["runs"].as_array().ok_or("runs")?.len();
    assert_eq!(cancelled().await?, done, "all that was done is said, and no more");
    assert!(done < 300, "somebody wanted it to end");
    assert_eq!(cancelling.end("INT")?, 130);

    change(url, "drop trigger slow", "").await?;
    let statuses = vec![RunStatus::Started];
    let left = RunQuery { statuses, max: 1_000, ..RunQuery::default() };
    for run in place.db.list(&left).await?.runs {
        place.db.cancel(run.id, None).await?;
    }
    let pruning = Running::start(url, &["prune", "--older-than", "0s", "--yes", "--json"])?;
    while cancelled().await? == 300 {}
    pruning.signal("INT")?;
    let printed: Value = serde_json::from_str(pruning.rest().first().ok_or("a line")?)?;
    let left = cancelled().await?;
    assert_eq!(printed, value!({ "runs": 300 - left, "jobs": 0, "dry_run": false }));
    assert_eq!(pruning.end("INT")?, if left > 0 { 130 } else { 0 });
    Ok(())
}

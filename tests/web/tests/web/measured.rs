//! What Prometheus gets.

use std::time::Duration;

use pgflow::pipeline::Rate;
use pgflow_web::Options;
use pgflow_web_tests::{Order, Outcome, Tools, orders};
use pgflow_worker_tests::{Fresh, everywhere};
use sqlx::{Connection as _, SqliteConnection};

use crate::place::Place;

everywhere!(metrics_say_what_waits_and_who_works);

async fn metrics_say_what_waits_and_who_works(fresh: Fresh) -> Outcome {
    let options = Options::new().metrics(|| "app_own_total 7\n".to_owned());
    let tools = Tools::without_boxes();
    let place = Place::on(fresh, &tools, options).await?;
    let run = place.start(&Order::of(20)).await?;
    // Eight slots of the worker hold a task each, and nobody has a box for them.
    loop {
        let steps = run.progress().await?;
        let pack = steps.iter().find(|step| step.step == "pack").and_then(|step| step.work.clone());
        if pack.is_some_and(|work| work.running == 8) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let db = &place.fresh.db;
    db.rate("api").set(Rate::per_minute(60).burst(5)).await?;
    db.resource("gpu").capacity(2).await?;
    db.queue("docs").pause().await?;
    db.schedule("nightly").flow(orders::Flow, &Order::of(1)).cron("@daily").await?;
    db.schedule("nightly").pause().await?;
    let answer = place.dashboard.get("/metrics", &[]).await?;
    assert!(answer.header("content-type").is_some_and(|kind| kind.starts_with("text/plain")));
    for line in [
        "pgflow_tasks_running{flow=\"orders\"} 8",
        "pgflow_tasks_delayed{flow=\"orders\"} 0",
        "pgflow_workers{state=\"alive\"} 1",
        "pgflow_workers{state=\"lost\"} 0",
        "pgflow_worker_slots 8",
        "pgflow_rate_left{rate=\"api\"} 5",
        "pgflow_resource_held{resource=\"gpu\"} 0",
        "pgflow_resource_capacity{resource=\"gpu\"} 2",
        "pgflow_paused_queues 1",
        "pgflow_schedules{state=\"pending\"} 0",
        "pgflow_schedules{state=\"paused\"} 1",
        "pgflow_late_schedule_seconds 0",
        "pgflow_recent_runs{status=\"started\"} 1",
        "# TYPE pgflow_oldest_ready_seconds gauge",
        "app_own_total 7",
    ] {
        assert!(answer.body.lines().any(|it| it == line), "{line} is not in\n{}", answer.body);
    }
    // Twelve lines, and what comes of the invoice meanwhile.
    let ready = [12, 13].map(|ready| format!("pgflow_tasks_ready{{flow=\"orders\"}} {ready}"));
    assert!(ready.iter().any(|line| answer.body.contains(line)), "{}", answer.body);
    tools.boxes.add_permits(100);
    run.wait().await?;
    let after = place.dashboard.get("/metrics", &[]).await?.body;
    assert!(after.contains("pgflow_recent_runs{status=\"completed\"} 1"), "{after}");
    assert!(after.contains("pgflow_recent_run_seconds{quantile=\"0.95\"}"), "{after}");
    place.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn how_long_the_first_job_could_have_been_taken_is_measured() -> Outcome {
    let place = Place::on(Fresh::sqlite().await?, &Tools::default(), Options::new()).await?;
    for id in ["old", "new"] {
        place.db().submit_raw("page.scan", 1.into()).id(id).await?;
    }
    place.db().submit_raw("later", 1.into()).delay(Duration::from_hours(1)).await?;
    let file = place.fresh.url.strip_prefix("sqlite:").expect("a file");
    let aged = "update pgflow_jobs set created_at = created_at - 600000000 where id = 'old';
        update pgflow_job_trace set at = at - 600000000 where job = 'old'";
    sqlx::raw_sql(aged).execute(&mut SqliteConnection::connect(file).await?).await?;
    let metrics = place.dashboard.get("/metrics", &[]).await?.body;
    let value = |need: &str| -> Option<f64> {
        let name = format!("pgflow_first_ready_job_seconds{{need=\"{need}\"}} ");
        metrics.lines().find_map(|line| line.strip_prefix(&name)?.parse().ok())
    };
    assert!(value("page.scan").is_some_and(|age| (600.0..1_200.0).contains(&age)), "{metrics}");
    assert_eq!(value("later"), Some(0.0), "nobody could take it: {metrics}");
    place.close().await
}

/// The documentation names every metric.
#[test]
fn every_metric_is_documented() -> Outcome {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let code = std::fs::read_to_string(format!("{root}/pgflow-web/src/metrics.rs"))?;
    let docs = std::fs::read_to_string(format!("{root}/docs/dashboard.md"))?;
    let mut names: Vec<&str> = code.split('"').filter(|text| text.starts_with("pgflow_")).collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() >= 8);
    for name in names {
        assert!(docs.contains(&format!("`{name}`")), "docs/dashboard.md does not name {name}");
    }
    Ok(())
}

/// What Grafana asks for is counted somewhere.
#[test]
fn the_grafana_dashboard_asks_for_metrics_that_are_there() -> Outcome {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let read = |name: &str| std::fs::read_to_string(format!("{docs}/{name}"));
    let known = [read("dashboard.md")?, read("runtime.md")?, read("pipelines.md")?].concat();
    let grafana = read("grafana.json")?;
    let words = grafana.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    let mut names: Vec<&str> = words.filter(|word| word.starts_with("pgflow_")).collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() >= 15, "{names:?}");
    for name in names {
        assert!(known.contains(&format!("`{name}`")), "nobody counts {name}");
    }
    Ok(())
}

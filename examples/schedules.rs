//! A flow that starts by itself, a schedule that is made at run time, and a run that begins later.
//!
//! `cargo run -p pgflow-examples --example schedules` works for ten seconds, in memory.

use std::time::Duration;

use pgflow::prelude::*;
use pgflow::{
    client::RunQuery,
    schedule::{Missed, Overlap},
};

/// What a report is about.
#[data]
struct Report {
    kind: String,
}

impl Report {
    fn hourly() -> Self {
        Self { kind: "hourly".to_owned() }
    }
}

/// Declared here, kept in the database by the worker.
#[flow(input = Report, schedule = "0 * * * *", timezone = "Europe/Berlin", schedule_input = Report::hourly())]
mod report {
    use super::{Report, Result};

    #[step]
    pub(crate) async fn write(run: Report) -> Result<String> {
        println!("a report: {}", run.kind);
        Ok(run.kind)
    }
}

#[tokio::main]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let db = Db::connect("memory:").await?;
    db.register(report::Flow).await?;

    let often = db.schedule("often");
    let input = Report { kind: "every two seconds".to_owned() };
    let create = often.flow(report::Flow, &input).cron("*/2 * * * * *");
    create.missed(Missed::Skip).overlap(Overlap::Skip).await?;

    let later = Report { kind: "later".to_owned() };
    db.start(report::Flow, &later).delay(Duration::from_secs(3)).await?;

    let worker = Worker::new(&db).flow(report::Flow);
    worker.run(tokio::time::sleep(Duration::from_secs(10))).await?;

    for schedule in db.schedules().await? {
        println!("{} ({}): last at {:?}", schedule.name, schedule.spec.cron, schedule.last_at);
    }
    println!("{} runs", db.list(&RunQuery::default()).await?.runs.len());
    Ok(())
}

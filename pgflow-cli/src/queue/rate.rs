//! `pgflow queue rate`.

use std::collections::BTreeMap;

use clap::Args;
use pgflow_runtime::pipeline::{Bucket, Rate};
use pgflow_runtime::{Db, Timestamp};
use serde_json::{Value, json};

use crate::database::{Reach, Table, flat};
use crate::error::Error;
use crate::out;

/// Which rate, and what it is to be.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow queue rate                    all of them
  pgflow queue rate openai             one of them
  pgflow queue rate openai 600/min --burst 50
  pgflow queue rate openai 0           nothing that takes of it goes on

What programs declare counts until somebody sets another; a program that declares another one afterwards replaces that.")]
pub(crate) struct Rates {
    /// Its name.
    #[arg(value_name = "RATE")]
    name: Option<String>,

    /// What it is to be: `5/s`, `600/min`, `100/h`, or 0 for a pause.
    #[arg(value_name = "AMOUNT", requires = "name", value_parser = parse)]
    amount: Option<Rate>,

    /// So many at once, when none were taken for long enough [default: 1]
    #[arg(long, value_name = "N", requires = "amount")]
    burst: Option<u32>,

    #[command(flatten)]
    reach: Reach,
}

fn parse(text: &str) -> Result<Rate, String> {
    text.parse().map_err(|problem: pgflow_runtime::pipeline::PermitProblem| problem.to_string())
}

pub(super) async fn run(command: &Rates) -> Result<bool, Error> {
    let rate = command.amount.map(|rate| rate.burst(command.burst.unwrap_or(rate.most_at_once())));
    if let Some(problem) = rate.and_then(|rate| rate.check().err()) {
        return Err(Error::Usage(problem.to_string()));
    }
    let db = command.reach.open().await?;
    if let (Some(name), Some(rate)) = (&command.name, rate) {
        db.rate(name).set(rate).await?;
    }
    let rates = chosen(&db, command.name.as_deref()).await?;
    let now = db.now().await?;
    if command.reach.json {
        let rates: Vec<Value> = rates.iter().map(|(name, it)| shape(name, it, now)).collect();
        out::json(json!({ "rates": rates }))?;
        return Ok(true);
    }
    let mut table = Table::new(&["rate", "amount", "left", "declared"]);
    for (name, bucket) in &rates {
        let left = bucket.available(now).to_string();
        table.row([flat(name), bucket.rate.to_string(), left, bucket.declared.to_string()]);
    }
    out::text(table.text())?;
    Ok(true)
}

async fn chosen(db: &Db, name: Option<&str>) -> Result<BTreeMap<String, Bucket>, Error> {
    let mut rates = db.rates().await?;
    rates.retain(|slug, _| name.is_none_or(|name| slug == name));
    match name {
        Some(name) if rates.is_empty() => Err(Error::Refused(format!("there is no rate {name}"))),
        _ => Ok(rates),
    }
}

fn shape(name: &str, bucket: &Bucket, now: Timestamp) -> Value {
    json!({
        "rate": name,
        "amount": bucket.rate.amount(),
        "period_seconds": bucket.rate.period().as_secs_f64(),
        "burst": bucket.rate.most_at_once(),
        "left": bucket.available(now),
        "declared": bucket.declared.to_string(),
    })
}

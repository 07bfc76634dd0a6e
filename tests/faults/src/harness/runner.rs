//! Runs experiments, several at a time.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::{Lab, Metrics, Outcome, Report, Size, Verdict};

/// A promise, and how it is put to the test.
#[derive(Clone, Copy)]
pub struct Experiment {
    /// Its name, as in `docs/faults.md`.
    pub id: &'static str,
    /// What is done, and what must come of it.
    pub about: &'static str,
    /// Does it.
    pub run: fn(&mut Lab) -> Running<'_>,
}

/// An experiment under way.
pub type Running<'a> = Pin<Box<dyn Future<Output = Outcome<Metrics>> + 'a>>;

/// What to run, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Of all random numbers.
    pub seed: u64,
    /// How much.
    pub size: Size,
    /// How many at a time.
    pub jobs: usize,
    /// The program that experiments start as worker: this crate's binary.
    pub program: PathBuf,
    /// Whether to say on standard error what is going on.
    pub is_chatty: bool,
}

/// Runs these, prints a line for each on standard output, and says whether all passed.
pub async fn run_all(plan: Plan, experiments: &[Experiment]) -> bool {
    let turns = Arc::new(Semaphore::new(plan.jobs.max(1)));
    let plan = Arc::new(plan);
    let mut running = JoinSet::new();
    for experiment in experiments.iter().copied() {
        let (plan, turns) = (plan.clone(), turns.clone());
        running.spawn(async move {
            let _turn = turns.acquire().await;
            perform(&plan, experiment).await
        });
    }
    let (mut passed, mut done) = (true, 0);
    while let Some(report) = running.join_next().await {
        let Ok(report) = report else { return false };
        println!("{report}");
        (passed, done) = (passed && report.verdict == Verdict::Pass, done + 1);
        plan.say(&format!("{done} of {} done", experiments.len()));
    }
    passed
}

impl Plan {
    fn say(&self, text: &str) {
        if self.is_chatty {
            eprintln!("{text}");
        }
    }

    /// An experiment that takes longer than this hangs.
    fn patience(&self) -> Duration {
        Duration::from_secs(if self.size == Size::Short { 300 } else { 1800 })
    }
}

async fn perform(plan: &Arc<Plan>, experiment: Experiment) -> Report {
    let (id, seed, since) = (experiment.id, plan.seed, Instant::now());
    plan.say(&format!("{id}: {}", experiment.about));
    // With a runtime of its own, so that neither a panic nor a thread that waits is another's.
    let own = plan.clone();
    let task = tokio::task::spawn_blocking(move || Runtime::new()?.block_on(lead(own, experiment)));
    let outcome = task.await.unwrap_or_else(|panic| Err(panic.into()));
    let (verdict, mut metrics) = match outcome {
        Ok(metrics) => (Verdict::Pass, metrics),
        Err(why) => {
            (Verdict::Fail, [("why".to_owned(), json!(why.to_string()))].into_iter().collect())
        }
    };
    metrics.insert("seconds".to_owned(), json!(since.elapsed().as_secs_f64()));
    Report { id, seed, verdict, metrics }
}

async fn lead(plan: Arc<Plan>, experiment: Experiment) -> Outcome<Metrics> {
    let mut lab = Lab::new(experiment.id, plan.seed, plan.size, &plan.program)?;
    let run = async {
        let metrics: Metrics = (experiment.run)(&mut lab).await?;
        lab.check().await?;
        Outcome::Ok(metrics)
    };
    let outcome = tokio::time::timeout(plan.patience(), run).await;
    let outcome = outcome.unwrap_or_else(|_| Err("it did not end".into()));
    outcome.map_err(|why| lab.explain(why.as_ref()).into())
}

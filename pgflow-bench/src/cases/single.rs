//! Runs of one step.

use super::{Context, phased};
use crate::args::Protocol;
use crate::drive::spawn_batched;
use crate::error::Result;
use crate::flow;
use crate::meter::Cost;
use crate::sample::Reading;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let slug = context.target.next_slug("single");
    flow::single(&mut context.target.probe.conn, &slug).await?;
    let runs = context.sizes.single_runs;
    start_and_drain(context, &slug, runs, 1).await
}

/// Readings for starting runs one by one, for draining them, and for both over the tasks that were
/// drained; then the same with starts in batches, where the core has them.
pub(super) async fn start_and_drain(
    context: &mut Context<'_>,
    slug: &str,
    runs: u32,
    tasks_per_run: u32,
) -> Result<Vec<Reading>> {
    let mut readings = Vec::new();
    for starts in Starts::of(context.protocol) {
        let start = start(context, slug, runs, *starts).await?;
        let (tasks, drain) = phased::drained(context, slug, runs * tasks_per_run).await?;
        let mut total = start.scaled(f64::from(tasks) / f64::from(runs * tasks_per_run));
        total += drain;
        readings.push(Reading::new(starts.start(), "run", runs, start));
        if *starts == Starts::OneByOne {
            readings.push(Reading::new("drain", "task", tasks, drain));
        }
        readings.push(Reading::new(starts.start_and_drain(), "task", tasks, total));
    }
    Ok(readings)
}

async fn start(context: &mut Context<'_>, slug: &str, runs: u32, starts: Starts) -> Result<Cost> {
    let seed = context.seed;
    let input = |number| flow::input(number, seed);
    let batch = match starts {
        Starts::OneByOne => return phased::spawned(context, slug, runs, input).await,
        Starts::Batched => context.batch,
    };
    let target = &mut *context.target;
    let mark = target.probe.mark().await?;
    spawn_batched(&mut target.lanes, slug, runs, batch, input).await?;
    target.probe.since(mark).await
}

/// How runs are started.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Starts {
    /// A transaction each.
    OneByOne,
    /// As a client does with starts that come together.
    Batched,
}

impl Starts {
    fn of(protocol: Protocol) -> &'static [Self] {
        match protocol {
            Protocol::Batched => &[Self::OneByOne, Self::Batched],
            Protocol::Published => &[Self::OneByOne],
        }
    }

    fn start(self) -> &'static str {
        match self {
            Self::OneByOne => "start",
            Self::Batched => "start batched",
        }
    }

    fn start_and_drain(self) -> &'static str {
        match self {
            Self::OneByOne => "start and drain",
            Self::Batched => "start batched and drain",
        }
    }
}

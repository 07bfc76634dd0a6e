//! Random commands on random flows: every backend must answer and remember what memory does (C70).
//!
//! Each sequence is made up while memory plays it, so that its commands are about what is there; then another
//! backend plays the same commands. Answers are compared one by one, and states and event logs now and then and in
//! the end. The order in which tasks are claimed is not part of the contract: claims take all there is, as a set.
//! A sequence that differs is made shorter while it still differs, and printed with its seed.

mod command;
mod draw;
mod generate;
mod play;
mod random;
mod reply;
mod sequence;
mod shrink;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use crate::subject::{Database, Subject};
pub use random::seed_from_env;
use sequence::Sequence;

/// Sequences that share a flow, because flows are dear on some databases.
const PER_FLOW: u64 = 4;

/// How much was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Sequences.
    pub sequences: u64,
    /// Commands in them.
    pub commands: u64,
    /// How long it took.
    pub took: Duration,
}

/// How many sequences to compare: `PGFLOW_TEST_SEQUENCES`, or this many.
///
/// # Panics
/// When the variable is not a number.
pub fn sequences_from_env(default: u64) -> u64 {
    std::env::var("PGFLOW_TEST_SEQUENCES")
        .map_or(default, |text| text.parse().expect("PGFLOW_TEST_SEQUENCES is a number"))
}

/// Compares memory with subjects of one kind, which share the work. Numbers `first`, `first + 1` and so on are
/// the sequences' seeds.
///
/// # Errors
/// With how to see the first difference again.
pub async fn compare(
    subjects: &[Arc<dyn Subject>],
    first: u64,
    count: u64,
) -> Result<Compared, String> {
    let (began, next) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let lanes = subjects.iter().map(|subject| {
        let (subject, next) = (Arc::clone(subject), Arc::clone(&next));
        async move { lane(&*subject, &next, first, count).await }
    });
    let mut sum = Compared::default();
    for lane in join_all(lanes).await {
        let lane = lane?;
        sum.sequences += lane.sequences;
        sum.commands += lane.commands;
    }
    Ok(Compared { took: began.elapsed(), ..sum })
}

async fn lane(
    subject: &dyn Subject,
    next: &AtomicU64,
    first: u64,
    count: u64,
) -> Result<Compared, String> {
    let database = subject.fresh().await;
    let mut sum = Compared::default();
    loop {
        let group = next.fetch_add(PER_FLOW, Ordering::Relaxed);
        if group >= count {
            return Ok(sum);
        }
        let seeds = (group..count.min(group + PER_FLOW)).map(|n| first.wrapping_add(n));
        let compared = compare_group(subject.name(), &*database, seeds).await;
        // The others need not go on.
        sum.commands += compared.inspect_err(|_| next.store(count, Ordering::Relaxed))?;
        sum.sequences += count.min(group + PER_FLOW) - group;
    }
}

/// The flow is drawn from the first seed of a group, the commands from each one's own.
async fn compare_group(
    name: &str,
    database: &dyn Database,
    seeds: impl Iterator<Item = u64> + Clone,
) -> Result<u64, String> {
    let flow_seed = seeds.clone().next().unwrap_or_default();
    let shape = draw::flow(&mut random::Random::new(flow_seed));
    let slug = play::register(database, &shape).await;
    let mut commands = 0;
    for seed in seeds {
        let sequence = Sequence::draw(flow_seed, seed).await;
        commands += sequence.commands.len() as u64;
        if let Some(difference) = sequence.differs_on(database, &slug).await {
            return Err(shrink::report(name, database, &sequence, &difference).await);
        }
    }
    Ok(commands)
}

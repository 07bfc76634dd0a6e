//! Random commands on random flows: every backend must answer and remember what memory does (C70).
//!
//! A sequence has two versions of a flow and another flow, and two workers that ask for some of their queues, for all steps
//! or all but one, at once or in portions. Some inputs are too wide for a map, and errors are compared as texts.
//!
//! Each sequence is made up while memory plays it, so that its commands are about what is there; then another
//! backend plays the same commands. Answers are compared one by one, and states and event logs now and then and in
//! the end. The order in which tasks are claimed is not part of the contract: claims take all there is, as a set.
//! A sequence that differs is made shorter while it still differs, and printed with its seed.

mod blind;
mod children;
mod command;
mod draw;
mod generate;
mod jobs;
mod pipelines;
mod play;
mod random;
mod reply;
mod sequence;
mod shrink;
mod traces;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
pub use pgflow_test_support::seed_from_env;

use crate::subject::{Database, Subject};
pub use jobs::compare_jobs;
pub use pipelines::compare_pipelines;
pub(crate) use random::Random;
use sequence::Sequence;
pub use traces::replay_concurrent;

/// Sequences that share their flows, because flows are dear on some databases.
const PER_FLOW: u64 = 8;

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
            return expect_no_violations(subject.name(), &*database).await.map(|()| sum);
        }
        let (start, size) = (first.wrapping_add(group), PER_FLOW.min(count - group));
        let compared = compare_group(subject.name(), &*database, start, size).await;
        // The others need not go on.
        sum.commands += compared.inspect_err(|_| next.store(count, Ordering::Relaxed))?;
        sum.sequences += size;
    }
}

/// Compares memory with one database.
pub(crate) async fn compare_on(
    name: &str,
    database: &dyn Database,
    first: u64,
    count: u64,
) -> Result<(), String> {
    for group in (0..count.div_ceil(PER_FLOW)).map(|group| group * PER_FLOW) {
        let (start, size) = (first.wrapping_add(group), PER_FLOW.min(count - group));
        compare_group(name, database, start, size).await?;
    }
    expect_no_violations(name, database).await
}

/// What cannot be. That jobs wait for one that lost too many workers can, and is for people to decide.
async fn violations(database: &dyn Database) -> Vec<String> {
    let mut found = database.check().await;
    found.retain(|violation| !violation.contains(" is in crash concern, and job "));
    found
}

async fn expect_no_violations(name: &str, database: &dyn Database) -> Result<(), String> {
    let violations = violations(database).await;
    let text = || format!("{name} violates its own invariants afterwards: {violations:#?}");
    violations.is_empty().then_some(()).ok_or_else(text)
}

/// The flows are drawn from the first seed of a group, the commands from each one's own.
async fn compare_group(
    name: &str,
    database: &dyn Database,
    first: u64,
    count: u64,
) -> Result<u64, String> {
    let shapes = draw::flows(&mut random::Random::new(first));
    let names = play::register(database, &shapes).await;
    let mut commands = 0;
    for seed in (0..count).map(|n| first.wrapping_add(n)) {
        let sequence = Sequence::draw(first, seed).await;
        commands += sequence.commands.len() as u64;
        if let Some(difference) = sequence.differs_on(database, &names).await {
            return Err(shrink::report(name, database, &sequence, &difference).await);
        }
    }
    Ok(commands)
}

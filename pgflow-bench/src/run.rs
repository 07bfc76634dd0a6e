//! Runs the cases: round by round, target by target, so that noise hits all alike.

use crate::args::{Args, Protocol};
use crate::cases::{Case, Context};
use crate::controls::insert;
use crate::error::{BenchError, Result};
use crate::progress::Progress;
use crate::sample::{Reading, Sample};
use crate::size::Sizes;
use crate::target::Target;
use crate::{cleanup, health, warmup};

/// A case on a target, driven in one way.
struct Job {
    case: Case,
    protocol: Protocol,
    target: usize,
}

/// Measures everything that was asked for.
pub(crate) async fn run(
    args: &Args,
    cases: &[Case],
    sizes: &Sizes,
    targets: &mut [Target],
) -> Result<Vec<Sample>> {
    let jobs = schedule(cases, args.protocol, targets, sizes.rounds)?;
    let progress = Progress::new(u64::try_from(jobs.len()).unwrap_or(0), args.json.is_some());
    for target in &mut *targets {
        progress.doing(&format!("warming up {}", target.name));
        warmup::warm(target, &protocols(target, args.protocol), args.seed).await?;
    }
    let mut samples = Vec::new();
    for (round, job) in jobs {
        let target = &mut targets[job.target];
        progress.doing(&format!(
            "{} on {} ({})",
            job.case.name(),
            target.name,
            job.protocol.name()
        ));
        samples.extend(measure(args, sizes, &job, target, round).await?);
        progress.step();
    }
    progress.finish();
    Ok(samples)
}

/// What a target can be driven with.
fn protocols(target: &Target, forced: Option<Protocol>) -> Vec<Protocol> {
    if !target.abilities.flows {
        return Vec::new();
    }
    let offered = Case::Diamond.protocols(target.abilities.preferred());
    offered.into_iter().filter(|protocol| forced.is_none_or(|forced| forced == *protocol)).collect()
}

/// Case by case, and within a case round by round over all targets.
fn schedule(
    cases: &[Case],
    forced: Option<Protocol>,
    targets: &[Target],
    rounds: u32,
) -> Result<Vec<(u32, Job)>> {
    let mut jobs = Vec::new();
    for &case in cases {
        let rounds = if case.has_own_rounds() { 1 } else { rounds };
        for round in 0..rounds {
            for (target, of) in targets.iter().enumerate() {
                for protocol in case_protocols(case, of, forced)? {
                    jobs.push((round, Job { case, protocol, target }));
                }
            }
        }
    }
    Ok(jobs)
}

fn case_protocols(case: Case, target: &Target, forced: Option<Protocol>) -> Result<Vec<Protocol>> {
    if forced == Some(Protocol::Batched) && !target.abilities.batches && target.abilities.flows {
        return Err(BenchError::NoBatches { target: target.name.clone() });
    }
    let offered = match case {
        of_jobs if of_jobs.is_of_jobs() => target.abilities.of_jobs(),
        Case::Insert | Case::Update => vec![target.abilities.preferred()],
        _ if !target.abilities.flows => Vec::new(),
        _ => case.protocols(forced.unwrap_or(target.abilities.preferred())),
    };
    Ok(offered
        .into_iter()
        .filter(|protocol| forced.is_none_or(|forced| forced == *protocol))
        .collect())
}

/// One round of a case, with the INSERT control just before it.
async fn measure(
    args: &Args,
    sizes: &Sizes,
    job: &Job,
    target: &mut Target,
    round: u32,
) -> Result<Vec<Sample>> {
    let control = insert::run(target, sizes.control).await?;
    let deadlocks = health::deadlocks(target).await?;
    let mut context = Context {
        target: &mut *target,
        sizes,
        protocol: job.protocol,
        batch: if job.case == Case::Map { args.map_batch } else { args.batch },
        seed: args.seed,
    };
    let batch = job.case.batch(&context);
    let readings = job.case.run(&mut context).await?;
    health::verify(target, job.case, deadlocks).await?;
    cleanup::flows(target).await?;
    if job.case.is_of_jobs() {
        cleanup::jobs(target).await?;
    }
    let place = |reading| sample(job, target, (round, batch), &control, reading);
    Ok(readings.into_iter().map(place).collect())
}

fn sample(
    job: &Job,
    target: &Target,
    (round, batch): (u32, Option<u32>),
    control: &Reading,
    reading: Reading,
) -> Sample {
    Sample {
        case: job.case.name(),
        target: target.name.clone(),
        protocol: (!job.case.is_control()).then_some(job.protocol),
        round,
        batch,
        insert_per_second: control.per_second(),
        insert_cpu_ms: control.cpu_ms(),
        reading,
    }
}

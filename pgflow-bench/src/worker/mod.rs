//! Cases that run through the client and a worker, on Postgres, SQLite and MariaDB.
//!
//! | file | concern |
//! |---|---|
//! | `case`, `size`, `flows`, `tally` | what is measured, how much of it, and with which handlers |
//! | `place`, `file`, `mysql` | the databases with their controls and meters |
//! | `crew`, `drain`, `latency`, `idle`, `fair`, `jobs`, `job_lines`, `pipelines`, `streams`, `waiters`, `waits` | measuring |
//! | `reading`, `summary`, `goals`, `table` | what comes out |

mod case;
mod crew;
mod drain;
mod fair;
mod file;
mod flows;
mod goals;
mod idle;
mod job_lines;
mod jobs;
mod latency;
mod mysql;
mod pipelines;
mod place;
mod reading;
mod size;
mod streams;
mod summary;
mod table;
mod tally;
mod waiters;
mod waits;

use serde::Serialize;

use crate::args::Args;
use crate::environment::{Machine, ServerFacts};
use crate::error::Result;
use crate::goals::Goal;
use crate::progress::Progress;
use crate::server::Ground;

pub(crate) use case::WorkerCase;
pub(crate) use table::print;

use file::File;
use mysql::MySqlServer;
use place::MeasuredDb;
use reading::{Reading, Sample};
use size::WorkerSizes;
use summary::{Summary, summarize};

/// What was found out about workers.
#[derive(Debug, Serialize)]
pub(crate) struct Findings {
    /// Tasks that a worker ran at once.
    pub(crate) concurrency: usize,
    pub(crate) sizes: WorkerSizes,
    pub(crate) summary: Vec<Summary>,
    /// Every round as it was measured.
    pub(crate) rounds: Vec<Sample>,
    #[serde(skip)]
    pub(crate) goals: Vec<Goal>,
    #[serde(skip)]
    pub(crate) server: Option<ServerFacts>,
}

/// What a case needs to run once.
struct Bench<'a, 'p> {
    place: &'a mut MeasuredDb<'p>,
    sizes: WorkerSizes,
    concurrency: usize,
    seed: u64,
}

/// Measures these cases on the databases that the arguments name.
pub(crate) async fn run(args: &Args, cases: &[WorkerCase]) -> Result<Findings> {
    let mut ground = if args.is_for_workers() {
        None
    } else {
        Some(Ground::open(&Args { other: Vec::new(), ..args.clone() }).await?)
    };
    let result = measure(args, cases, ground.as_mut()).await;
    // Cleans up in any case; the first error is the one to tell.
    let closed = match ground {
        Some(ground) => ground.close().await,
        None => Ok(()),
    };
    let findings = result?;
    closed?;
    Ok(findings)
}

async fn measure(
    args: &Args,
    cases: &[WorkerCase],
    ground: Option<&mut Ground>,
) -> Result<Findings> {
    let mut server = None;
    let mut places = Vec::new();
    if let Some(target) = ground.and_then(|ground| ground.targets.first_mut()) {
        server = Some(ServerFacts::read(target).await?);
        places.push(MeasuredDb::Postgres(target));
    }
    // With a server of their own choice, people want to know about that one.
    if args.database.is_none() || args.sqlite().is_some() {
        places.push(MeasuredDb::Sqlite(File::new(args.sqlite())?));
    }
    if args.database.is_none() || args.mysql().is_some() {
        places.push(MeasuredDb::MySql(MySqlServer::new(args.mysql(), args.connections)?));
    }
    let (sizes, concurrency) = (WorkerSizes::of(args.size.mode()), args.concurrency);
    let rounds = rounds(args, cases, sizes, &mut places).await?;
    let summary = summarize(&rounds);
    let goals = goals::goals(&summary);
    Ok(Findings { concurrency, sizes, summary, rounds, goals, server })
}

/// Case by case, and within a case round by round over all databases.
async fn rounds(
    args: &Args,
    cases: &[WorkerCase],
    sizes: WorkerSizes,
    places: &mut [MeasuredDb<'_>],
) -> Result<Vec<Sample>> {
    let rounds = args.rounds.unwrap_or(args.size.mode().sizes().rounds);
    let steps = cases.len() as u64 * u64::from(rounds) * places.len() as u64;
    let progress = Progress::new(steps, args.json.is_some());
    let mut samples = Vec::new();
    for &case in cases {
        for round in 0..rounds {
            for place in &mut *places {
                progress.doing(&format!("{} on {}", case.name(), place.name()));
                let (concurrency, seed) = (args.concurrency, args.seed);
                let mut bench = Bench { place, sizes, concurrency, seed };
                samples.extend(bench.measure(case, round).await?);
                progress.step();
            }
        }
    }
    progress.finish();
    Ok(samples)
}

impl Bench<'_, '_> {
    /// One round of a case, with the INSERT control just before it.
    async fn measure(&mut self, case: WorkerCase, round: u32) -> Result<Vec<Sample>> {
        let load = Machine::read().load;
        let insert_per_second = self.place.insert(self.sizes.control).await?;
        let readings = self.readings(case).await?;
        self.place.tidy_up(case.name()).await?;
        let (database, case) = (self.place.name(), case.name());
        let sample = |reading| {
            let load = load.clone();
            Sample { database, case, round, insert_per_second, load, reading }
        };
        Ok(readings.into_iter().map(sample).collect())
    }

    async fn readings(&mut self, case: WorkerCase) -> Result<Vec<Reading>> {
        match case {
            WorkerCase::Control => {
                let times = self.place.insert_times(self.sizes.control).await?;
                Ok(vec![Reading::of_times("one row, commit", "row", &times)])
            }
            WorkerCase::Noop => drain::noop(self).await,
            WorkerCase::Chain => drain::chain(self).await,
            WorkerCase::Diamond => drain::diamond(self).await,
            WorkerCase::Map => drain::map(self).await,
            WorkerCase::Start => latency::start(self).await,
            WorkerCase::Step => latency::step(self).await,
            WorkerCase::Idle => idle::run(self).await,
            WorkerCase::Fair => fair::run(self).await,
            WorkerCase::Waiters => waiters::run(self).await,
            WorkerCase::Jobs => jobs::run(self).await,
            WorkerCase::JobSubmit => job_lines::submit(self).await,
            WorkerCase::JobCycle => job_lines::cycle(self).await,
            WorkerCase::JobEmpty => job_lines::empty(self).await,
            WorkerCase::JobJoin => job_lines::join(self).await,
            WorkerCase::Pipelines => pipelines::run(self).await,
            WorkerCase::Append => streams::append(self).await,
            WorkerCase::Readers => streams::readers(self).await,
            WorkerCase::Signal => waits::signal(self).await,
            WorkerCase::Sleep => waits::sleep(self).await,
        }
    }
}

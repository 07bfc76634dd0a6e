//! What can be asked about jobs, with jobs and claims by number.

use pgflow_machine::job::Policy;

use crate::differential::random::Random;

/// Jobs of a sequence, and runs that they may wait for.
pub(super) const JOBS: usize = 7;
pub(super) const RUNS: usize = 2;

#[derive(Clone, Debug)]
pub(super) enum Command {
    Submit(Vec<Draft>),
    Claim {
        needs: Vec<usize>,
        max: u32,
    },
    Beat(Vec<Hold>),
    Settle(Vec<(Hold, Verdict, Vec<Draft>)>),
    /// One result, and a claim: what goes with others may go before them.
    Trip {
        settle: (Hold, Verdict, Vec<Draft>),
        needs: Vec<usize>,
        max: u32,
    },
    StartRun(usize),
    /// Well, or by being cancelled.
    EndRun(usize, bool),
    Cancel(Vec<usize>),
    Clear(Vec<usize>),
    Complete(usize),
    Reschedule(usize, Onward),
    Redrive(Vec<usize>),
    /// Seconds: never at a boundary, because leases and delays are whole thousands, and this is seven more.
    Advance(u64),
    Sweep,
    Look,
}

/// A new job.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) job: usize,
    pub(super) onward: Onward,
    pub(super) priority: i32,
    pub(super) key: Option<usize>,
    pub(super) expires: Option<u64>,
}

/// What a job needs next.
#[derive(Clone, Debug)]
pub(super) struct Onward {
    pub(super) need: usize,
    pub(super) after: Vec<(On, Policy)>,
    pub(super) wake: Option<u64>,
    pub(super) max_attempts: Option<u32>,
}

/// What a job waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum On {
    Job(usize),
    Run(usize),
}

/// A claim of a job, counted from the newest, whether or not there ever was one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub(super) job: usize,
    pub(super) ago: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Verdict {
    Finish,
    Fail(Option<u64>),
    HandOver(Onward),
    Release,
}

impl Command {
    pub(super) fn draw(random: &mut Random) -> Self {
        match random.below(100) {
            0..18 => Self::Submit((0..=random.below(3)).map(|_| Draft::draw(random)).collect()),
            18 => Self::StartRun(random.below(RUNS)),
            19 => Self::EndRun(random.below(RUNS), random.chance(50)),
            20..37 => Self::Claim { needs: random.some(&[0, 1, 2]), max: *random.pick(&[1, 2, 5]) },
            37..42 => {
                let hold = Hold { job: random.below(JOBS), ago: 0 };
                let settle = settle(random, hold);
                Self::Trip { settle, needs: random.some(&[0, 1, 2]), max: *random.pick(&[1, 3]) }
            }
            42..47 => Self::Beat(holds(random)),
            47..70 => {
                let holds = holds(random);
                Self::Settle(holds.into_iter().map(|hold| settle(random, hold)).collect())
            }
            70..74 => Self::Cancel(jobs(random)),
            74..77 => Self::Clear(jobs(random)),
            77..79 => Self::Complete(random.below(JOBS)),
            79..81 => Self::Reschedule(random.below(JOBS), Onward::draw(random)),
            81..84 => Self::Redrive(jobs(random)),
            84..92 => Self::Advance(*random.pick(&[1_007, 1_007, 2_007, 5_007])),
            92..96 => Self::Sweep,
            _ => Self::Look,
        }
    }
}

fn settle(random: &mut Random, hold: Hold) -> (Hold, Verdict, Vec<Draft>) {
    let forks = if random.chance(15) { vec![Draft::draw(random)] } else { Vec::new() };
    (hold, Verdict::draw(random), forks)
}

fn jobs(random: &mut Random) -> Vec<usize> {
    (0..=random.below(3)).map(|_| random.below(JOBS)).collect()
}

/// Mostly the newest claims, sometimes older ones, sometimes the same twice.
fn holds(random: &mut Random) -> Vec<Hold> {
    let hold = |random: &mut Random| {
        let ago = usize::from(random.chance(20));
        Hold { job: random.below(JOBS), ago }
    };
    (0..=random.below(4)).map(|_| hold(random)).collect()
}

impl Draft {
    fn draw(random: &mut Random) -> Self {
        Self {
            job: random.below(JOBS),
            onward: Onward::draw(random),
            priority: *random.pick(&[0, 0, 0, 1, -1]),
            key: random.chance(50).then(|| random.below(2)),
            expires: random.chance(20).then(|| *random.pick(&[0, 3_000, 9_000])),
        }
    }
}

impl Onward {
    fn draw(random: &mut Random) -> Self {
        let after = |random: &mut Random| {
            let is_run = random.chance(15);
            let on = if is_run { On::Run(random.below(RUNS)) } else { On::Job(random.below(JOBS)) };
            (on, *random.pick(Policy::ALL))
        };
        let waits = if random.chance(35) { 1 + random.below(2) } else { 0 };
        Self {
            need: random.below(3),
            after: (0..waits).map(|_| after(random)).collect(),
            wake: random.chance(20).then(|| *random.pick(&[1_000, 3_000])),
            max_attempts: random.chance(50).then(|| *random.pick(&[1, 2, 3])),
        }
    }
}

impl Verdict {
    fn draw(random: &mut Random) -> Self {
        match random.below(10) {
            0..4 => Self::Finish,
            4..6 => Self::Fail(Some(*random.pick(&[0, 1_000]))),
            6 => Self::Fail(None),
            7 | 8 => Self::HandOver(Onward::draw(random)),
            _ => Self::Release,
        }
    }
}

//! What can be asked of pipelines, with messages and claims by number.

use crate::differential::random::Random;

/// Messages of a sequence.
pub(super) const MESSAGES: usize = 12;

/// Resources of a sequence; a further one is never there.
pub(super) const RESOURCES: usize = 2;

#[derive(Clone, Debug)]
pub(super) enum Command {
    Push(Vec<Draft>),
    Claim(Take),
    Settle(Vec<(Hold, End)>),
    Capacity(usize, u32),
    /// So many in an hour, and so many at once.
    Rate(u32, u32),
    Declare(u32),
    Drop(Vec<usize>),
    Redrive(Vec<usize>),
    Cancel(usize),
    /// Seconds: never at a boundary, because leases, delays and waits are whole thousands, and this is seven more.
    Advance(u64),
    Sweep,
    Look,
}

#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) message: usize,
    pub(super) queue: usize,
    pub(super) key: Option<usize>,
    pub(super) fair: Option<usize>,
    pub(super) batch_key: Option<usize>,
    pub(super) resource: Option<(usize, u32)>,
    pub(super) size: usize,
    pub(super) wake: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct Take {
    pub(super) queue: usize,
    pub(super) max: u32,
    /// Messages and bytes at most.
    pub(super) batch: Option<(u32, Option<u64>)>,
    pub(super) resource: Option<(usize, u32)>,
    pub(super) has_rate: bool,
    pub(super) drains: bool,
}

/// A claim of a message, counted from the newest, whether or not there ever was one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub(super) message: usize,
    pub(super) ago: usize,
}

#[derive(Clone, Debug)]
pub(super) struct End {
    pub(super) verdict: Verdict,
    pub(super) emits: Vec<Draft>,
    pub(super) batch_key: Option<usize>,
    pub(super) blocks: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Verdict {
    Finish,
    Fail(Option<u64>),
    HandOver { queue: usize, frees_key: bool, wake: Option<u64> },
    Release,
}

impl Command {
    pub(super) fn draw(random: &mut Random) -> Self {
        match random.below(100) {
            0..26 => Self::Push((0..=random.below(4)).map(|_| Draft::draw(random)).collect()),
            26..52 => Self::Claim(Take::draw(random)),
            52..76 => {
                let end = |random: &mut Random| (Hold::draw(random), End::draw(random));
                Self::Settle((0..=random.below(5)).map(|_| end(random)).collect())
            }
            76..80 => Self::Capacity(random.below(RESOURCES), *random.pick(&[0, 1, 1, 2, 3])),
            80..82 => Self::Rate(*random.pick(&[0, 1, 2]), *random.pick(&[0, 1, 2, 9])),
            82 => Self::Declare(*random.pick(&[1, 2])),
            83..85 => Self::Drop(messages(random)),
            85..87 => Self::Redrive(messages(random)),
            87 => Self::Cancel(random.below(MESSAGES)),
            88..95 => Self::Advance(*random.pick(&[1_007, 1_007, 2_007, 5_007])),
            95..97 => Self::Sweep,
            _ => Self::Look,
        }
    }
}

fn messages(random: &mut Random) -> Vec<usize> {
    (0..=random.below(3)).map(|_| random.below(MESSAGES)).collect()
}

/// Mostly one that there is.
fn resource(random: &mut Random) -> (usize, u32) {
    (*random.pick(&[0, 0, 0, 1, 1, RESOURCES]), *random.pick(&[1, 1, 2]))
}

impl Draft {
    fn draw(random: &mut Random) -> Self {
        Self {
            message: random.below(MESSAGES),
            queue: random.below(2),
            key: random.chance(30).then(|| random.below(2)),
            fair: random.chance(35).then(|| random.below(2)),
            batch_key: random.chance(30).then(|| random.below(2)),
            resource: random.chance(20).then(|| resource(random)),
            size: *random.pick(&[1, 10, 60]),
            wake: random.chance(10).then_some(1_000),
        }
    }
}

impl Take {
    fn draw(random: &mut Random) -> Self {
        let batch = |random: &mut Random| {
            (*random.pick(&[1, 2, 3, 4]), random.chance(30).then(|| *random.pick(&[20, 70])))
        };
        Self {
            queue: random.below(2),
            max: *random.pick(&[1, 2, 5]),
            batch: random.chance(50).then(|| batch(random)),
            resource: random.chance(35).then(|| resource(random)),
            has_rate: random.chance(25),
            drains: random.chance(20),
        }
    }
}

impl Hold {
    fn draw(random: &mut Random) -> Self {
        Self { message: random.below(MESSAGES), ago: usize::from(random.chance(15)) }
    }
}

impl End {
    fn draw(random: &mut Random) -> Self {
        let emits = if random.chance(30) { 1 + random.below(2) } else { 0 };
        let verdict = match random.below(10) {
            0..4 => Verdict::Finish,
            4..6 => Verdict::Fail(Some(*random.pick(&[0, 1_000]))),
            6 => Verdict::Fail(None),
            7 | 8 => Verdict::HandOver {
                queue: random.below(2),
                frees_key: random.chance(70),
                wake: random.chance(60).then(|| *random.pick(&[0, 1_000])),
            },
            _ => Verdict::Release,
        };
        Self {
            verdict,
            emits: (0..emits).map(|_| Draft::draw(random)).collect(),
            batch_key: random.chance(40).then(|| random.below(2)),
            blocks: random.chance(40),
        }
    }
}

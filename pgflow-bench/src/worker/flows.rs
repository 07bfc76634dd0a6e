//! The flows that workers are measured with. Their steps do nothing, so what is left is ours.

use pgflow::prelude::*;

use super::tally::Tally;

/// What runs are given: about as much as a job that names a row or two.
#[data]
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) number: u32,
    pub(crate) note: String,
}

impl Order {
    pub(crate) fn new(number: u32, seed: u64) -> Self {
        let note = format!("{:016x}", u64::from(number).wrapping_mul(seed | 1).rotate_left(17));
        Self { number, note }
    }
}

#[flow(input = Order)]
pub(crate) mod pgflow_bench_noop {
    use super::{Order, Result, State, Tally};

    #[step]
    pub(crate) async fn job(run: Order, State(tally): State<Tally>) -> Result<u32> {
        tally.last(tally.enter());
        Ok(run.number)
    }
}

#[flow(input = Order)]
pub(crate) mod pgflow_bench_chain {
    use super::{Order, Result, State, Tally};

    #[step]
    pub(crate) async fn first(run: Order, State(tally): State<Tally>) -> Result<u32> {
        tally.leave(tally.enter());
        Ok(run.number)
    }

    #[step(depends_on = [first])]
    pub(crate) async fn second(first: u32, State(tally): State<Tally>) -> Result<u32> {
        tally.leave(tally.enter());
        Ok(first)
    }

    #[step(depends_on = [second])]
    pub(crate) async fn third(second: u32, State(tally): State<Tally>) -> Result<u32> {
        tally.last(tally.enter());
        Ok(second)
    }
}

#[flow(input = Order)]
pub(crate) mod pgflow_bench_diamond {
    use super::{Order, Result, State, Tally};

    #[step]
    pub(crate) async fn top(run: Order, State(tally): State<Tally>) -> Result<u32> {
        tally.leave(tally.enter());
        Ok(run.number)
    }

    #[step(depends_on = [top])]
    pub(crate) async fn left(top: u32, State(tally): State<Tally>) -> Result<u32> {
        tally.leave(tally.enter());
        Ok(top)
    }

    #[step(depends_on = [top])]
    pub(crate) async fn right(top: u32, State(tally): State<Tally>) -> Result<u32> {
        tally.leave(tally.enter());
        Ok(top)
    }

    #[step(depends_on = [left, right])]
    pub(crate) async fn bottom(left: u32, right: u32, State(tally): State<Tally>) -> Result<u32> {
        tally.last(tally.enter());
        Ok(left.max(right))
    }
}

#[flow(input = Vec<u32>)]
pub(crate) mod pgflow_bench_map {
    use super::{Result, State, Tally};

    #[step(map)]
    pub(crate) async fn each(item: u32, State(tally): State<Tally>) -> Result<u32> {
        tally.last(tally.enter());
        Ok(item)
    }
}

/// The tally of the small runs beside a map.
#[derive(Debug, Clone)]
pub(crate) struct Small(pub(crate) Tally);

#[flow(input = Order)]
pub(crate) mod pgflow_bench_small {
    use super::{Order, Result, Small, State};

    #[step]
    pub(crate) async fn first(run: Order, State(small): State<Small>) -> Result<u32> {
        small.0.leave(small.0.enter());
        Ok(run.number)
    }

    #[step(depends_on = [first])]
    pub(crate) async fn second(first: u32, State(small): State<Small>) -> Result<u32> {
        small.0.leave(small.0.enter());
        Ok(first)
    }

    #[step(depends_on = [second])]
    pub(crate) async fn third(second: u32, State(small): State<Small>) -> Result<u32> {
        small.0.last(small.0.enter());
        Ok(second)
    }
}

#[job]
pub(crate) mod pgflow_bench_jobs {
    use super::{Result, State, Tally};

    #[need]
    pub(crate) async fn noop(job: u32, State(tally): State<Tally>) -> Result<Next> {
        tally.last(tally.enter());
        Ok(Next::done(job))
    }
}

#[flow(input = Order)]
pub(crate) mod pgflow_bench_signal {
    use super::{Hook, Result, State, Tally, Waiting};

    #[step]
    pub(crate) async fn answer(hook: Hook<u32>) -> Result<Waiting<u32>> {
        Ok(hook.wait())
    }

    #[step(depends_on = [answer])]
    pub(crate) async fn next(answer: u32, State(tally): State<Tally>) -> Result<u32> {
        tally.last(tally.enter());
        Ok(answer)
    }
}

/// Milliseconds.
#[flow(input = u64)]
pub(crate) mod pgflow_bench_sleep {
    use super::{Context, Result, State, Tally, Waiting};
    use std::time::Duration;

    #[step]
    pub(crate) async fn nap(
        run: u64,
        ctx: Context,
        State(tally): State<Tally>,
    ) -> Result<Waiting<()>> {
        tally.leave(tally.enter());
        Ok(ctx.sleep(Duration::from_millis(run)))
    }

    #[step(depends_on = [nap])]
    pub(crate) async fn next(State(tally): State<Tally>) -> Result<u32> {
        tally.last(tally.enter());
        Ok(1)
    }
}

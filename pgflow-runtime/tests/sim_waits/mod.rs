//! Steps that wait, children and schedules in virtual time.

use std::time::Duration;

use pgflow::backend::DueQuery;
use pgflow::prelude::*;
use pgflow::testing::{Sim, SimError, block_on, every_crash};
use pgflow::{RunStatus, Timestamp, client::RunQuery, wait::Signalled};

const DAY: Duration = Duration::from_hours(24);

#[flow(input = u32)]
mod kid {
    use super::*;

    #[step(max_attempts = 3, base_delay = 0)]
    pub(super) async fn double(run: u32) -> Result<u32> {
        if run > 100 { Err(Error::fatal("too much")) } else { Ok(run * 2) }
    }
}

#[flow(input = u32)]
mod parent {
    use super::*;

    /// Its second attempt asks for less.
    #[step(max_attempts = 4, base_delay = 0)]
    pub(super) async fn ask(run: u32, ctx: Context) -> Result<Waiting<kid::Output>> {
        let wish = if ctx.attempt() == 1 { run } else { run.min(100) };
        Ok(ctx.run(kid::Flow, wish).await?.wait())
    }

    #[step(depends_on = [ask])]
    pub(super) async fn told(ask: kid::Output) -> Result<u32> {
        Ok(ask.double)
    }
}

#[flow(input = u32)]
mod letter {
    use super::*;

    #[step(wait_timeout = "7d", max_attempts = 2, base_delay = 0, when_exhausted = skip)]
    pub(super) async fn answer(hook: Hook<String>) -> Result<Waiting<String>> {
        Ok(hook.wait())
    }

    #[step(depends_on = [answer])]
    pub(super) async fn cool_down(run: u32, ctx: Context) -> Result<Waiting<()>> {
        Ok(ctx.sleep(Duration::from_hours(run.into())))
    }

    #[step(depends_on = [answer, cool_down])]
    pub(super) async fn read(answer: Option<String>) -> Result<String> {
        Ok(answer.unwrap_or_else(|| "nothing".to_owned()))
    }
}

#[flow(input = i64)]
mod dawn {
    use super::*;

    #[step]
    pub(super) async fn night(run: i64, ctx: Context) -> Result<Waiting<()>> {
        Ok(ctx.sleep_until(Timestamp::from_micros(run)))
    }

    #[step(depends_on = [night])]
    pub(super) async fn rise() -> Result<u8> {
        Ok(1)
    }
}

#[flow(schedule = "30 2 * * *", timezone = "Europe/Berlin")]
mod nightly {
    #[step]
    pub(super) async fn report() -> pgflow::Result<u8> {
        Ok(1)
    }
}

fn children(sim: &Sim) -> Result<Vec<RunStatus>, SimError> {
    let query = RunQuery { flows: vec!["kid".to_owned()], ..RunQuery::default() };
    let page = block_on(sim.db().list(&query))?;
    Ok(page.runs.iter().map(|run| run.status).collect())
}

#[test]
fn days_go_by_at_once() -> Result<(), SimError> {
    let mut sim = Sim::new().flow(letter::Flow);
    let answered = sim.start(letter::Flow, 2)?;
    let ignored = sim.start(letter::Flow, 2)?;
    sim.run_ready();
    assert_eq!(sim.waits(&answered)?.len(), 1);
    sim.advance(6 * DAY);
    let said = sim.signal::<letter::answer>(&answered, &"yes".to_owned())?;
    assert!(matches!(said, Signalled::Delivered(_)), "{said:?}");
    sim.run_ready();
    assert_eq!(sim.status(&answered), RunStatus::Started, "it cools down");
    sim.run_until_idle();
    assert_eq!(sim.output(&answered)?.read, "yes");
    assert_eq!(sim.output(&ignored)?.read, "nothing");
    let expected = 14 * DAY + Duration::from_hours(2);
    assert_eq!(sim.elapsed(), expected, "two attempts of seven days, and two hours");
    assert_eq!(sim.calls::<letter::answer>(), 3);
    let log = sim.log(&ignored);
    let timeouts = log.iter().filter(|line| line.starts_with("step:wait_timed_out answer"));
    assert_eq!(timeouts.count(), 2, "{log:?}");
    Ok(())
}

#[test]
fn a_moment_comes_when_it_comes() -> Result<(), SimError> {
    let mut sim = Sim::new().flow(dawn::Flow);
    let begun = sim.db().backend().schedules().expect("there are schedules");
    let begun = block_on(begun.due_schedules(&DueQuery::default())).expect("a clock").now;
    let over = sim.start(dawn::Flow, begun.micros() - 1)?;
    let later = sim.start(dawn::Flow, (begun + DAY).micros())?;
    sim.run_ready();
    assert_eq!(sim.status(&over), RunStatus::Completed, "that moment is over");
    sim.advance(DAY.saturating_sub(Duration::from_secs(1)));
    sim.run_ready();
    assert_eq!(sim.status(&later), RunStatus::Started);
    assert_eq!(sim.calls::<dawn::rise>(), 1);
    sim.run_until_idle();
    assert_eq!(sim.status(&later), RunStatus::Completed);
    assert_eq!(sim.elapsed(), DAY, "not a moment later");
    Ok(())
}

/// Wherever a worker dies, between the call that asks for a child and the settle that starts it too.
#[test]
fn no_crash_makes_a_second_child_or_an_orphan() {
    every_crash(|sim| {
        let mut sim = sim.flow(parent::Flow).flow(kid::Flow);
        let run = sim.start(parent::Flow, 7).unwrap();
        sim.run_until_idle();
        assert_eq!(sim.output(&run).unwrap().told, 14);
        assert_eq!(children(&sim).unwrap(), [RunStatus::Completed]);
    });
}

#[test]
fn a_child_that_fails_is_followed_by_another() -> Result<(), SimError> {
    let mut sim = Sim::new().flow(parent::Flow).flow(kid::Flow);
    let run = sim.start(parent::Flow, 101)?;
    sim.run_until_idle();
    assert_eq!(sim.output(&run)?.told, 200);
    let mut children = children(&sim)?;
    children.sort_by_key(ToString::to_string);
    assert_eq!(children, [RunStatus::Completed, RunStatus::Failed]);
    Ok(())
}

#[test]
fn a_child_goes_with_its_parent() -> Result<(), SimError> {
    // Nobody serves the child.
    let mut sim = Sim::new().flow(parent::Flow);
    block_on(sim.db().register(kid::Flow)).expect("it can be registered");
    let run = sim.start(parent::Flow, 7)?;
    sim.run_ready();
    assert_eq!(children(&sim)?, [RunStatus::Started]);
    block_on(run.cancel(None))?;
    sim.run_until_idle();
    assert_eq!(children(&sim)?, [RunStatus::Cancelled]);
    Ok(())
}

/// Simulations begin with the year 2000. Clocks in Berlin were put back on its 29th of October, and half past two came twice.
#[test]
fn the_hour_that_comes_twice_counts_once() {
    let mut sim = Sim::new().flow(nightly::Flow);
    sim.advance(301 * DAY); // the 28th
    sim.run_for(Duration::ZERO);
    let before = sim.calls::<nightly::report>();
    sim.run_for(3 * DAY);
    assert_eq!(sim.calls::<nightly::report>() - before, 3);
}

//! Flows in simulations: what a user's own tests look like, and that they notice what is wrong.

mod sim_jobs;
#[cfg(feature = "sqlite")]
mod sim_tx;
mod sim_waits;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pgflow::prelude::*;
use pgflow::testing::{Crash, Sim, SimError, block_on, every_crash};
use pgflow_runtime::{Happened, RunStatus};

/// What the world outside has seen.
#[derive(Clone, Default)]
struct World(Arc<AtomicU32>);

impl World {
    fn touch(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn touched(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

#[flow(input = Vec<u32>)]
mod order {
    use super::*;

    #[step(base_delay = 5)]
    pub(super) async fn charge(run: Vec<u32>) -> Result<u32> {
        Ok(run.iter().sum())
    }

    #[step(map)]
    pub(super) async fn pack(item: u32, run: Vec<u32>) -> Result<String> {
        Ok(format!("{item} of {}", run.len()))
    }

    #[step(depends_on = [charge, pack], timeout = 30)]
    pub(super) async fn ship(
        charge: u32,
        pack: Vec<String>,
        world: State<World>,
    ) -> Result<String> {
        world.touch();
        Ok(format!("{} for {charge}", pack.join(", ")))
    }
}

fn order(sim: Sim) -> (Sim, World) {
    let world = World::default();
    (sim.flow(order::Flow).state(world.clone()), world)
}

#[test]
fn a_run_does_what_its_steps_say() -> Result<(), SimError> {
    let (mut sim, _) = order(Sim::new());
    let run = sim.start(order::Flow, &vec![3, 4])?;
    assert!(matches!(sim.output(&run), Err(SimError::NotEnded { .. })));
    sim.run_until_idle();
    assert_eq!(sim.output(&run)?.ship, "3 of 2, 4 of 2 for 7");
    assert_eq!(sim.step_output::<order::charge>(&run)?, Some(7));
    assert_eq!(sim.elapsed(), Duration::ZERO, "nothing had to wait");
    Ok(())
}

#[test]
fn retries_wait_as_their_options_say() -> Result<(), SimError> {
    let (mut sim, _) = order(Sim::new());
    let run = sim.start(order::Flow, &vec![1])?;
    sim.fail::<order::charge>(2, "no answer");
    sim.run_until_idle();
    assert_eq!(sim.status(&run), RunStatus::Completed);
    assert_eq!(sim.elapsed(), Duration::from_secs(10 + 20));
    Ok(())
}

#[test]
fn a_dead_worker_is_waited_for_as_long_as_the_step_may_take() -> Result<(), SimError> {
    let (mut sim, world) = order(Sim::new());
    let run = sim.start(order::Flow, &vec![1])?;
    sim.crash::<order::ship>(Crash::BeforeSettle, 1);
    sim.run_until_idle();
    assert_eq!(sim.status(&run), RunStatus::Completed);
    assert_eq!((sim.calls::<order::ship>(), world.touched()), (2, 2));
    assert_eq!(sim.elapsed(), Duration::from_secs(30 + 2) + Duration::from_micros(1));
    Ok(())
}

#[test]
fn a_worker_that_dies_before_the_call_or_after_the_commit_calls_once() -> Result<(), SimError> {
    for moment in [Crash::AfterClaim, Crash::AfterSettle] {
        let (mut sim, world) = order(Sim::new());
        let run = sim.start(order::Flow, &vec![1])?;
        sim.crash::<order::ship>(moment, 1);
        sim.run_until_idle();
        assert_eq!(sim.status(&run), RunStatus::Completed);
        assert_eq!(world.touched(), 1, "{moment:?}");
    }
    Ok(())
}

#[test]
fn no_crash_changes_the_outcome() {
    let runs = AtomicU32::new(0);
    every_crash(|sim| {
        runs.fetch_add(1, Ordering::Relaxed);
        let (mut sim, _) = order(sim);
        let run = sim.start(order::Flow, &vec![3, 4]).expect("a start");
        sim.run_until_idle();
        assert_eq!(sim.output(&run).expect("an output").ship, "3 of 2, 4 of 2 for 7");
        let ends = sim.events(&run).into_iter().filter(Happened::ends_the_run).count();
        assert_eq!(ends, 1);
    });
    // Four tasks with a claim, a call and a settle each, and the test without a crash.
    assert_eq!(runs.into_inner(), 4 * 3 + 1);
}

#[test]
fn every_crash_finds_an_effect_that_happens_twice() {
    let finds = catch_unwind(AssertUnwindSafe(|| {
        every_crash(|sim| {
            let (mut sim, world) = order(sim);
            sim.start(order::Flow, &vec![1]).expect("a start");
            sim.run_until_idle();
            assert_eq!(world.touched(), 1);
        });
    }));
    assert!(finds.is_err());
}

#[test]
fn a_seed_repeats_its_order_and_others_differ() -> Result<(), SimError> {
    let log = |seed| {
        let (mut sim, _) = order(Sim::seeded(seed));
        let run = sim.start(order::Flow, &vec![1, 2, 3])?;
        sim.run_until_idle();
        Ok::<_, SimError>(sim.log(&run))
    };
    let logs = (0..20).map(log).collect::<Result<Vec<_>, _>>()?;
    assert_eq!(logs, (0..20).map(log).collect::<Result<Vec<_>, _>>()?);
    assert!(logs.iter().any(|other| *other != logs[0]), "20 seeds, one order");
    Ok(())
}

#[flow]
mod fragile {
    use super::*;

    #[step]
    pub(super) async fn once(world: State<World>) -> Result<u32> {
        assert!(world.touch() > 1, "the first time is hard");
        Ok(world.touched())
    }

    #[step(when_exhausted = skip_cascade)]
    pub(super) async fn never() -> Result<u32> {
        Err(Error::fatal("this cannot work"))
    }

    #[step(depends_on = [never])]
    pub(super) async fn after(never: u32) -> Result<u32> {
        Ok(never)
    }
}

#[test]
fn panics_are_failures_and_skips_are_followed() -> Result<(), SimError> {
    let mut sim = Sim::new().flow(fragile::Flow).state(World::default());
    let run = sim.start(fragile::Flow, &())?;
    sim.run_until_idle();
    assert_eq!(sim.output(&run)?.once, 2);
    assert_eq!(sim.error::<fragile::never>(&run).as_deref(), Some("this cannot work"));
    assert_eq!(
        sim.log(&run),
        [
            "run:started",
            "step:started never",
            "step:started once",
            "step:skipped never",
            "step:skipped after",
            "step:completed once",
            "run:completed",
        ]
    );
    Ok(())
}

#[test]
fn a_failed_run_can_be_retried() -> Result<(), SimError> {
    let (mut sim, _) = order(Sim::new());
    let run = sim.start(order::Flow, &vec![1])?;
    sim.fail_for_good::<order::charge>("the card is stolen");
    sim.run_until_idle();
    assert_eq!(sim.status(&run), RunStatus::Failed);
    assert_eq!(sim.error::<order::charge>(&run).as_deref(), Some("the card is stolen"));
    block_on(run.retry())?;
    sim.run_until_idle();
    assert_eq!(sim.output(&run)?.ship, "1 of 1 for 1");
    Ok(())
}

#[test]
fn what_a_worker_would_refuse_is_refused() {
    let mut sim = Sim::new().flow(order::Flow);
    let error = sim.start(order::Flow, &vec![1]).expect_err("there is no state");
    assert!(error.to_string().contains("World"), "{error}");
    let mut sim = Sim::new().flow(order::Flow).flow(order::Flow);
    let error = sim.start(order::Flow, &vec![1]).expect_err("the flow is there twice");
    assert_eq!(error.to_string(), "there are two flows with the slug `order`");
}

#[flow]
mod sleepy {
    use super::*;

    #[step(timeout = 60, max_attempts = 2)]
    pub(super) async fn nap(ctx: Context) -> Result<u32> {
        let hours = u64::from(ctx.attempt() == 1);
        tokio::time::sleep(Duration::from_secs(hours * 3600)).await;
        Ok(ctx.attempt())
    }
}

#[tokio::test(start_paused = true)]
async fn sleeps_and_timeouts_cost_no_time_in_a_paused_runtime() -> Result<(), SimError> {
    let mut sim = Sim::new().flow(sleepy::Flow);
    let run = sim.start(sleepy::Flow, &())?;
    sim.drive().await;
    assert_eq!(sim.output(&run)?.nap, 2, "the first attempt timed out");
    Ok(())
}

#[data]
struct Approval {
    by: String,
}

#[flow(input = u32)]
mod invoice {
    use super::*;

    #[step]
    pub(super) async fn total(run: u32, world: State<World>) -> Result<u32> {
        world.touch();
        if run == 13 { Err(Error::fatal("unlucky")) } else { Ok(run * 3) }
    }
}

#[flow(input = u32, base_delay = 1)]
mod purchase {
    use super::*;

    #[step(wait_timeout = "7d", max_attempts = 2, when_exhausted = skip)]
    pub(super) async fn approval(hook: Hook<Approval>) -> Result<Waiting<Approval>> {
        Ok(hook.wait())
    }

    #[step(depends_on = [approval])]
    pub(super) async fn cool_down(ctx: Context) -> Result<Waiting<()>> {
        Ok(ctx.sleep(Duration::from_hours(1)))
    }

    #[step(depends_on = [cool_down], max_attempts = 2)]
    pub(super) async fn bill(run: u32, ctx: Context) -> Result<Waiting<invoice::Output>> {
        Ok(ctx.run(invoice::Flow, run).await?.wait())
    }

    #[step(depends_on = [approval, bill])]
    pub(super) async fn pay(
        approval: Option<Approval>,
        bill: invoice::Output,
    ) -> Result<(Option<String>, u32)> {
        Ok((approval.map(|it| it.by), bill.total))
    }
}

fn purchase(sim: Sim) -> (Sim, World) {
    let world = World::default();
    (sim.flow(purchase::Flow).flow(invoice::Flow).state(world.clone()), world)
}

#[test]
fn six_days_go_by_before_somebody_answers() -> Result<(), SimError> {
    let (mut sim, _) = purchase(Sim::new());
    let run = sim.start(purchase::Flow, 14)?;
    sim.run_ready();
    assert_eq!(sim.waits(&run)?.len(), 1);
    sim.advance(Duration::from_hours(6 * 24));
    sim.signal::<purchase::approval>(&run, &Approval { by: "Ann".to_owned() })?;
    sim.run_until_idle();
    assert_eq!(sim.output(&run)?.pay, (Some("Ann".to_owned()), 42));
    assert_eq!(sim.elapsed(), Duration::from_hours(6 * 24 + 1));
    Ok(())
}

#[test]
fn nobody_answers_twice_for_seven_days() -> Result<(), SimError> {
    let (mut sim, _) = purchase(Sim::new());
    let run = sim.start(purchase::Flow, 14)?;
    sim.run_until_idle();
    assert_eq!(sim.output(&run)?.pay, (None, 42));
    assert!(sim.elapsed() > Duration::from_hours(14 * 24));
    assert_eq!(sim.calls::<purchase::approval>(), 2);
    let timeouts = sim.log(&run).iter().filter(|it| it.contains("wait_timed_out")).count();
    assert_eq!(timeouts, 2);
    Ok(())
}

#[test]
fn a_child_that_fails_is_started_anew_and_fails_its_parent() -> Result<(), SimError> {
    let (mut sim, world) = purchase(Sim::new());
    let run = sim.start(purchase::Flow, 13)?;
    sim.run_until_idle();
    assert_eq!(sim.status(&run), RunStatus::Failed);
    let error = sim.error::<purchase::bill>(&run).unwrap_or_default();
    assert!(error.starts_with("child run ") && error.ends_with("failed: unlucky"), "{error}");
    assert_eq!(world.touched(), 2);
    Ok(())
}

#[test]
fn no_crash_leaves_an_orphan_or_a_second_child() {
    every_crash(|sim| {
        let (mut sim, _) = purchase(sim);
        let run = sim.start(purchase::Flow, 14).expect("it starts");
        sim.run_ready();
        let ann = Approval { by: "Ann".to_owned() };
        sim.signal::<purchase::approval>(&run, &ann).expect("it is kept if nobody waits yet");
        sim.run_until_idle();
        assert_eq!(sim.output(&run).expect("it ended").pay, (Some("Ann".to_owned()), 42));
        let query =
            pgflow::client::RunQuery { flows: vec!["invoice".to_owned()], ..Default::default() };
        let children = block_on(sim.db().list(&query)).expect("memory answers").runs;
        assert_eq!(children.len(), 1, "{children:?}");
    });
}

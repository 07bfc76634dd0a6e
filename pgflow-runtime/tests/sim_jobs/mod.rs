//! Jobs in simulations: time that goes by, workers that die, and what is left of it afterwards.

use std::time::Duration;

use pgflow::prelude::*;
use pgflow::testing::{Crash, Sim, SimError, block_on, every_crash};

use super::World;

const HOUR: Duration = Duration::from_hours(1);

#[job]
mod album {
    use super::*;

    #[need]
    pub(super) async fn split(job: Vec<String>, ctx: JobContext) -> Result<Next> {
        let scans = ctx.submit_all::<scan>(job)?;
        Ok(Next::to::<bind>(scans.len()).after(scans))
    }

    #[need(max_attempts = 3, base_delay = 5)]
    pub(super) async fn scan(job: String, State(world): State<World>) -> Result<Next> {
        world.touch();
        Ok(Next::done(job.len()))
    }

    #[need]
    pub(super) async fn bind(job: usize) -> Result<Next> {
        if job > 100 {
            return Ok(Next::to::<press>(job).delay(HOUR));
        }
        Ok(Next::done(format!("{job} pages")))
    }

    #[need(lease = "2m")]
    pub(super) async fn press(job: usize) -> Result<Next> {
        Ok(Next::done(format!("{job} pages, pressed")))
    }
}

#[flow(input = u32)]
mod paper {
    use super::*;

    #[step]
    pub(super) async fn order(run: u32) -> Result<u32> {
        Ok(run)
    }
}

fn album(sim: Sim) -> (Sim, World) {
    let world = World::default();
    (sim.job(album::Job).state(world.clone()), world)
}

fn pages(many: usize) -> Vec<String> {
    (0..many).map(|page| format!("page {page}")).collect()
}

#[test]
fn wherever_the_worker_dies_a_fork_joins_once() {
    every_crash(|sim| {
        let (mut sim, world) = album(sim);
        let job = sim.submit::<album::split>(&pages(3)).expect("submitted");
        sim.run_until_idle();
        assert_eq!(sim.job_output::<String>(&job).expect("an output"), "3 pages");
        // One crash repeats one call, and forks nothing a second time.
        assert!((3..=4).contains(&world.touched()), "{} scans", world.touched());
        assert!(sim.need_calls::<album::split>() <= 2);
        let ends = sim.job_log(&job).iter().filter(|kind| **kind == "finished").count();
        assert_eq!(ends, 1);
    });
}

#[test]
fn a_retry_waits_in_virtual_time_and_the_last_one_ends_the_job() -> Result<(), SimError> {
    let (mut sim, _) = album(Sim::new());
    let job = sim.submit::<album::scan>(&"a".to_owned())?;
    sim.fail_need::<album::scan>(1, "no light");
    sim.run_ready();
    assert_eq!(sim.job_status(&job), "AWAITING_FUTURE");
    sim.advance(Duration::from_secs(4));
    sim.run_ready();
    assert_eq!(sim.job_status(&job), "AWAITING_FUTURE", "not before its time");
    sim.run_until_idle();
    assert_eq!(sim.job_output::<usize>(&job)?, 1);

    let job = sim.submit::<album::scan>(&"b".to_owned())?;
    sim.fail_need::<album::scan>(3, "no light at all");
    let before = sim.elapsed();
    sim.run_until_idle();
    assert_eq!(sim.job_status(&job), "failed");
    assert!(sim.elapsed() >= before + Duration::from_secs(5 + 10), "later each time");
    let why = sim.job_output::<usize>(&job).expect_err("it failed").to_string();
    assert!(why.contains("no light at all"), "{why}");
    Ok(())
}

#[test]
fn a_job_that_kills_its_worker_each_time_is_set_aside_until_somebody_clears_it()
-> Result<(), SimError> {
    let (mut sim, _) = album(Sim::new());
    let job = sim.submit::<album::press>(&7)?;
    sim.crash_need::<album::press>(Crash::AfterClaim, 6);
    sim.run_until_idle();
    assert_eq!(sim.job_status(&job), "CRASH_CONCERN");
    assert_eq!(sim.need_calls::<album::press>(), 0);
    assert!(sim.elapsed() >= 6 * Duration::from_mins(2), "each lease was waited for");
    sim.advance(24 * HOUR);
    sim.run_until_idle();
    assert_eq!(sim.job_status(&job), "CRASH_CONCERN", "time does not heal it");
    block_on(sim.db().clear_concern(&[job.id().clone()]))?;
    sim.run_until_idle();
    assert_eq!(sim.job_output::<String>(&job)?, "7 pages, pressed");
    Ok(())
}

#[test]
fn a_job_sleeps_for_as_long_as_it_says() -> Result<(), SimError> {
    let (mut sim, _) = album(Sim::new());
    let job = sim.submit::<album::bind>(&200)?;
    sim.run_ready();
    assert_eq!(sim.job_status(&job), "AWAITING_FUTURE");
    sim.advance(HOUR.saturating_sub(Duration::from_secs(1)));
    sim.run_ready();
    assert_eq!(sim.need_calls::<album::press>(), 0);
    sim.run_until_idle();
    assert_eq!(sim.job_output::<String>(&job)?, "200 pages, pressed");
    assert_eq!(sim.elapsed(), HOUR);
    Ok(())
}

#[test]
fn of_a_key_the_next_goes_on_when_the_lease_of_a_dead_worker_lapses() -> Result<(), SimError> {
    let (mut sim, world) = album(Sim::new());
    let submit =
        |page: &str| sim.db().submit::<album::scan>(&page.to_owned()).key("scanner").id(page);
    let first = block_on(submit("first").into_future())?;
    let second = block_on(submit("second").into_future())?;
    sim.crash_need::<album::scan>(Crash::AfterClaim, 1);
    sim.run_ready();
    assert_eq!((sim.job_status(&first), world.touched()), ("ACTIVE".to_owned(), 0));
    assert_eq!(sim.job_status(&second), "READY", "it is in line");
    sim.run_until_idle();
    assert_eq!(world.touched(), 2);
    assert_eq!(sim.job_log(&first), ["submitted", "claimed", "lapsed", "claimed", "finished"]);
    assert_eq!(sim.job_log(&second), ["submitted", "claimed", "finished"]);
    assert!(sim.elapsed() >= Duration::from_mins(1), "the lease was waited for");
    Ok(())
}

#[test]
fn what_expires_in_virtual_time_is_over() -> Result<(), SimError> {
    let (mut sim, _) = album(Sim::new());
    let offer = sim.db().submit_raw("human.review", serde_json::json!(1)).expires_in(HOUR);
    let offer = block_on(offer.into_future())?;
    sim.run_until_idle();
    assert_eq!(sim.job_status(&offer), "READY", "nobody has looked at it yet");
    sim.advance(HOUR);
    sim.run_until_idle();
    assert_eq!(sim.job_status(&offer), "expired");
    Ok(())
}

#[test]
fn flows_and_jobs_share_the_time_and_wait_for_each_other() -> Result<(), SimError> {
    let (sim, _) = album(Sim::new());
    let mut sim = sim.flow(paper::Flow);
    let run = sim.start(paper::Flow, &7)?;
    let bind = sim.db().submit::<album::bind>(&3).after([run.id()]);
    let job = block_on(bind.into_future())?;
    assert_eq!(sim.job_status(&job), "PENDING_JOBS");
    sim.crash::<paper::order>(Crash::BeforeSettle, 1);
    sim.crash_need::<album::bind>(Crash::AfterSettle, 1);
    sim.run_until_idle();
    assert_eq!(sim.output(&run)?.order, 7);
    assert_eq!(sim.job_output::<String>(&job)?, "3 pages");
    assert_eq!((sim.calls::<paper::order>(), sim.need_calls::<album::bind>()), (2, 1));
    Ok(())
}

#[test]
fn the_same_crashes_lead_to_the_same_end_each_time() {
    let log = || {
        let (mut sim, _) = album(Sim::new());
        let job = sim.submit::<album::split>(&pages(5)).expect("submitted");
        sim.crash_need::<album::scan>(Crash::BeforeSettle, 2);
        sim.fail_need::<album::bind>(1, "no glue");
        sim.run_until_idle();
        (sim.job_log(&job), sim.elapsed(), sim.need_calls::<album::scan>())
    };
    assert_eq!(log(), log());
}

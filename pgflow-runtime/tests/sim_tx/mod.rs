//! Steps with a `tx`, in simulations: what they write is there if and only if they completed.

use pgflow::prelude::*;
use pgflow::testing::{Crash, Sim, SimError, every_crash};
use pgflow_runtime::RunStatus;

type Tried = std::result::Result<(), Box<dyn std::error::Error>>;

/// An order whose one entry in a ledger must not be doubled or lost.
#[flow(input = i64)]
mod sale {
    use super::*;

    #[step]
    pub(super) async fn price(run: i64) -> Result<i64> {
        Ok(run * 2)
    }

    /// Writes first and refuses afterwards.
    #[step(depends_on = [price], max_attempts = 2, base_delay = 1)]
    pub(super) async fn book(price: i64, ctx: Context, tx: &mut Tx) -> Result<i64> {
        let sqlite = tx.sqlite().ok_or("not SQLite")?;
        sqlx::query("insert into entries values (?)").bind(price).execute(sqlite).await?;
        if price > 100 || (price > 50 && ctx.attempt() == 1) {
            return Err(Error::from("too much"));
        }
        Ok(price)
    }

    #[step(depends_on = [book])]
    pub(super) async fn receipt(book: i64) -> Result<String> {
        Ok(format!("{book} paid"))
    }
}

async fn sale() -> Result<Sim, sqlx::Error> {
    with_ledger(Sim::new()).await
}

async fn with_ledger(sim: Sim) -> Result<Sim, sqlx::Error> {
    let mut sim = sim.flow(sale::Flow);
    sqlx::query("create table entries (amount)").execute(&sim.sqlite()).await?;
    Ok(sim)
}

async fn entries(sim: &mut Sim) -> Result<Vec<i64>, sqlx::Error> {
    sqlx::query_scalar("select amount from entries").fetch_all(&sim.sqlite()).await
}

#[tokio::test]
async fn what_a_step_writes_is_there_when_it_completed() -> Tried {
    let mut sim = sale().await?;
    let run = sim.start(sale::Flow, 7)?;
    sim.drive().await;
    assert_eq!(sim.output(&run)?.receipt, "14 paid");
    assert_eq!(entries(&mut sim).await?, [14]);
    Ok(())
}

#[tokio::test]
async fn what_an_attempt_wrote_goes_with_its_failure() -> Tried {
    let mut sim = sale().await?;
    let (again, never) = (sim.start(sale::Flow, 30)?, sim.start(sale::Flow, 60)?);
    sim.drive().await;
    assert_eq!(sim.output(&again)?.receipt, "60 paid");
    assert_eq!(sim.status(&never), RunStatus::Failed);
    assert_eq!(sim.calls::<sale::book>(), 4);
    assert_eq!(entries(&mut sim).await?, [60], "of four attempts, one completed");
    Ok(())
}

#[tokio::test]
async fn a_failure_that_a_test_asks_for_writes_nothing() -> Tried {
    let mut sim = sale().await?;
    sim.fail_for_good::<sale::book>("no ledger");
    let run = sim.start(sale::Flow, 7)?;
    sim.drive().await;
    assert_eq!(sim.error::<sale::book>(&run).as_deref(), Some("no ledger"));
    assert_eq!(entries(&mut sim).await?, [0; 0]);
    Ok(())
}

#[test]
fn without_its_world_a_step_returns_what_a_test_says() -> Result<(), SimError> {
    let mut sim = Sim::new().flow(sale::Flow);
    sim.returns::<sale::book>(&5);
    let run = sim.start(sale::Flow, 7)?;
    sim.run_until_idle();
    assert_eq!(sim.output(&run)?.receipt, "5 paid");
    assert_eq!(sim.calls::<sale::book>(), 0);
    Ok(())
}

#[tokio::test]
async fn a_worker_that_dies_before_its_commit_leaves_nothing() -> Tried {
    for (moment, calls) in
        [(Crash::BeforeSettle, 2), (Crash::AfterClaim, 1), (Crash::AfterSettle, 1)]
    {
        let mut sim = sale().await?;
        let run = sim.start(sale::Flow, 7)?;
        sim.crash::<sale::book>(moment, 1);
        sim.drive().await;
        assert_eq!(sim.output(&run)?.receipt, "14 paid", "{moment:?}");
        assert_eq!(sim.calls::<sale::book>(), calls, "{moment:?}");
        assert_eq!(entries(&mut sim).await?, [14], "{moment:?}");
    }
    Ok(())
}

#[test]
fn no_crash_doubles_or_loses_an_entry() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    every_crash(|sim| {
        let ended = runtime.block_on(async {
            let mut sim = with_ledger(sim).await?;
            let run = sim.start(sale::Flow, 7)?;
            sim.drive().await;
            assert_eq!(sim.output(&run)?.receipt, "14 paid");
            assert_eq!(entries(&mut sim).await?, [14]);
            Tried::Ok(())
        });
        ended.expect("a simulation");
    });
}

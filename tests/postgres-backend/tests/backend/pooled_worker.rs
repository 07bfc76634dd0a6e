//! A worker and its client behind PgBouncer, from an empty database on.

use std::time::Duration;

use pgflow::RunStatus;
use pgflow::prelude::*;
use pgflow_postgres_backend_tests::leave_statements;
use pgflow_runtime::backend::Cancelled;
use pgflow_test_support::{PgBouncer, PoolMode, TestDb};

#[flow(input = Vec<i64>, max_attempts = 3, base_delay = 1, timeout = 60)]
mod order {
    use super::*;

    /// Fails at first.
    #[step(map)]
    pub(crate) async fn price(item: i64, ctx: Context) -> Result<i64> {
        if item % 4 == 0 && ctx.attempt() == 1 {
            return Err("the price list is being printed".into());
        }
        Ok(item * 10)
    }

    /// More than one statement, and each with parameters.
    #[step(depends_on = [price])]
    pub(crate) async fn book(price: Vec<i64>, tx: &mut Tx) -> Result<i64> {
        let connection = tx.postgres().ok_or("not Postgres")?;
        for item in price {
            let insert = sqlx::query("insert into public.booked values ($1)").bind(item);
            insert.execute(&mut *connection).await?;
        }
        let sum = sqlx::query_scalar("select sum(item)::bigint from public.booked where item > $1");
        Ok(sum.bind(0_i64).fetch_one(connection).await?)
    }
}

#[flow(timeout = 60)]
mod endless {
    use super::*;

    #[step]
    pub(crate) async fn wait(ctx: Context) -> Result<()> {
        ctx.cancelled().await;
        Err("told to stop".into())
    }
}

async fn runs_through(mode: PoolMode) {
    let database = TestDb::empty().await;
    let bouncer = PgBouncer::start(&database, mode);
    leave_statements(&bouncer).await;
    let db = Db::connect(&bouncer.url()).await.unwrap();
    db.migrate().await.unwrap();
    db.register(order::Flow).await.unwrap();
    db.register(endless::Flow).await.unwrap();
    let create = "create table public.booked (item bigint)";
    sqlx::query(create).execute(&database.pool).await.unwrap();
    let worker = Worker::new(&db).flow(order::Flow).flow(endless::Flow).concurrency(8);
    let health = worker.health();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let worker = tokio::spawn(worker.run(async { drop(stopped.await) }));

    let endless = db.start(endless::Flow, &()).await.unwrap();
    let items: Vec<i64> = (1..=20).collect();
    let run = db.start(order::Flow, &items).key("order 7").await.unwrap();
    let again = db.start(order::Flow, &items).key("order 7").await.unwrap();
    assert!(run.is_new() && !again.is_new());
    assert_eq!(run.output().await.unwrap().book, 2100, "what failed attempts wrote is gone");
    let mut events = run.events();
    let mut count = 0;
    while let Some(event) = events.next().await {
        count += 1;
        assert_eq!(event.unwrap().seq, count, "no gaps");
    }

    assert_eq!(endless.wait_for(Duration::from_millis(10)).await.unwrap(), None);
    assert_eq!(endless.cancel(Some("enough")).await.unwrap(), Cancelled::Cancelled);
    assert_eq!(endless.wait().await.unwrap(), RunStatus::Cancelled);
    assert_eq!(health.snapshot().last_error, None);
    drop(stop);
    let report = worker.await.unwrap().unwrap();
    // Twenty elements, five of them twice, and the booking.
    assert_eq!((report.settled, report.lost), (26, 0), "{report}");
    db.close().await.unwrap();
    database.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_run_goes_through_shared_sessions() {
    runs_through(PoolMode::Transaction).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_run_goes_through_lent_sessions() {
    runs_through(PoolMode::Session).await;
}

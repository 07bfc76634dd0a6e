//! A database, a worker and a dashboard, for a test.

use pgflow::{Db, Run, Worker};
use pgflow_web::Options;
use pgflow_web_tests::{Dashboard, Order, Outcome, Tools, orders};
use pgflow_worker_tests::{Fresh, Working};

pub(crate) struct Place {
    pub(crate) fresh: Fresh,
    pub(crate) dashboard: Dashboard,
    worker: Working,
}

impl Place {
    /// On a real Postgres.
    pub(crate) async fn new(tools: &Tools, options: Options) -> Outcome<Self> {
        Self::on(Fresh::postgres().await?, tools, options).await
    }

    pub(crate) async fn on(fresh: Fresh, tools: &Tools, options: Options) -> Outcome<Self> {
        fresh.db.register(orders::Flow).await?;
        let worker = Worker::new(&fresh.db).flow(orders::Flow).state(tools.clone()).concurrency(8);
        let worker = Working::start(worker);
        let dashboard = Dashboard::start(&fresh.db, options).await?;
        Ok(Self { fresh, dashboard, worker })
    }

    pub(crate) fn db(&self) -> &Db {
        &self.fresh.db
    }

    pub(crate) async fn start(&self, order: &Order) -> Outcome<Run<orders::Flow>> {
        Ok(self.db().start(orders::Flow, order).await?)
    }

    /// A run that has ended.
    pub(crate) async fn ended(&self, order: &Order) -> Outcome<Run<orders::Flow>> {
        let run = self.start(order).await?;
        run.wait().await?;
        Ok(run)
    }

    /// Where a run is on the dashboard.
    pub(crate) fn url(&self, run: &Run<orders::Flow>) -> String {
        self.dashboard.url(&path(run))
    }

    pub(crate) async fn close(self) -> Outcome {
        self.dashboard.stop().await?;
        self.worker.stop().await?;
        Ok(())
    }
}

pub(crate) fn path(run: &Run<orders::Flow>) -> String {
    format!("/runs/{}", run.id())
}

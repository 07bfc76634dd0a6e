//! A database of the test's own, with the core installed.

use pgflow_test_support::TestDb;
use uuid::Uuid;

use super::answer::{Failure, ask, lit};
use super::{Run, Session, Task};

pub(crate) struct Db(TestDb);

impl Db {
    pub(crate) async fn new() -> Self {
        Self(TestDb::new().await)
    }

    /// A new database after a script of definitions.
    pub(crate) async fn with(script: &str) -> Self {
        let db = Self::new().await;
        db.run(script).await;
        db
    }

    pub(crate) async fn session(&self) -> Session {
        Session::new(self.0.connect().await)
    }

    /// How to reach it, for what needs a connection of another kind.
    pub(crate) fn url(&self) -> String {
        self.0.url()
    }

    /// The invariants hold.
    pub(crate) async fn check(&self) {
        self.0.check().await;
    }

    pub(crate) async fn rows(&self, sql: &str) -> Vec<String> {
        ask(&self.0.pool, sql).await.unwrap_or_else(|failure| panic!("{failure}\nin {sql}"))
    }

    pub(crate) async fn run(&self, sql: &str) {
        self.rows(sql).await;
    }

    pub(crate) async fn one(&self, sql: &str) -> String {
        let mut rows = self.rows(sql).await;
        assert_eq!(rows.len(), 1, "one row expected from {sql}: {rows:?}");
        rows.remove(0)
    }

    pub(crate) async fn error(&self, sql: &str) -> Failure {
        match ask(&self.0.pool, sql).await {
            Err(failure) => failure,
            Ok(rows) => panic!("must be refused, but gave {rows:?}: {sql}"),
        }
    }

    pub(crate) async fn start(&self, flow: &str, input: &str) -> Run<'_> {
        let call = format!("pgflow.start_flow({}, {}::jsonb)", lit(flow), lit(input));
        let id = self.one(&format!("select run_id from {call}")).await;
        Run::new(self, flow, Uuid::parse_str(&id).expect("a run id"))
    }

    /// Every task that can be had of the flow now, by step and index.
    pub(crate) async fn claim(&self, flow: &str) -> Vec<Task> {
        self.claim_up_to(flow, 1_000_000).await
    }

    pub(crate) async fn claim_up_to(&self, flow: &str, quantity: u32) -> Vec<Task> {
        let call = format!("pgflow.claim_tasks(array[{}], {quantity})", lit(flow));
        let sql = format!("select to_jsonb(t) from {call} t order by step_slug, task_index");
        self.rows(&sql).await.iter().map(|row| Task::parse(row)).collect()
    }

    /// Messages of a flow's queue as `step#index`.
    pub(crate) async fn queue(&self, flow: &str) -> Vec<String> {
        self.messages(&format!("q_{flow}")).await
    }

    /// Archived messages of a flow as `step#index`.
    pub(crate) async fn archive(&self, flow: &str) -> Vec<String> {
        self.messages(&format!("a_{flow}")).await
    }

    async fn messages(&self, table: &str) -> Vec<String> {
        let name = "message->>'step_slug' || '#' || (message->>'task_index')";
        let order = "message->>'step_slug', (message->>'task_index')::int";
        self.rows(&format!("select {name} from pgmq.{table} order by {order}")).await
    }

    /// Makes every message of a flow visible, as if its delay were over.
    pub(crate) async fn wake(&self, flow: &str) {
        self.run(&format!("update pgmq.q_{flow} set vt = clock_timestamp()")).await;
    }

    /// Lets the steps of all runs begin with them, after a test has set runs back in time.
    pub(crate) async fn age_steps(&self) {
        let sql = "update pgflow.step_states s set created_at = r.started_at from pgflow.runs r where r.run_id = s.run_id";
        self.run(sql).await;
    }

    /// Runs a statement and says for how many seconds it hid the flow's messages, as `step:seconds`.
    /// Both in one round trip, so that a busy machine does not count.
    pub(crate) async fn hides(&self, flow: &str, statement: &str) -> Vec<String> {
        let hidden = format!(
            "select 'hidden ' || (message->>'step_slug') || ':' || ceil(extract(epoch from vt - clock_timestamp()))
             from pgmq.q_{flow} order by message->>'step_slug', msg_id"
        );
        let rows = self.rows(&format!("{statement}; {hidden}")).await;
        rows.iter().filter_map(|row| row.strip_prefix("hidden ").map(str::to_owned)).collect()
    }
}

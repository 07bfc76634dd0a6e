//! One connection, for what must happen in one session: transactions, roles, locks.

use sqlx::PgConnection;

use super::answer::{Failure, ask};

pub(crate) struct Session(PgConnection);

impl Session {
    pub(crate) fn new(connection: PgConnection) -> Self {
        Self(connection)
    }

    pub(crate) async fn ask(&mut self, sql: &str) -> Result<Vec<String>, Failure> {
        ask(&mut self.0, sql).await
    }

    pub(crate) async fn rows(&mut self, sql: &str) -> Vec<String> {
        self.ask(sql).await.unwrap_or_else(|failure| panic!("{failure}\nin {sql}"))
    }

    pub(crate) async fn run(&mut self, sql: &str) {
        self.rows(sql).await;
    }

    pub(crate) async fn one(&mut self, sql: &str) -> String {
        let mut rows = self.rows(sql).await;
        assert_eq!(rows.len(), 1, "one row expected from {sql}: {rows:?}");
        rows.remove(0)
    }

    pub(crate) async fn error(&mut self, sql: &str) -> Failure {
        match self.ask(sql).await {
            Err(failure) => failure,
            Ok(rows) => panic!("must be refused, but gave {rows:?}: {sql}"),
        }
    }

    /// Runs a statement, and counts the pages that it touches.
    pub(crate) async fn pages(&mut self, sql: &str) -> u32 {
        let explain = "explain (analyze, buffers, costs off, timing off, summary off)";
        let plan = self.rows(&format!("{explain} {sql}")).await.join(" ");
        let hits = plan.split("shared hit=").nth(1);
        let hits = hits.and_then(|rest| rest.split([' ', ')', ',']).next());
        hits.unwrap_or_else(|| panic!("no buffers: {plan}")).parse().expect("a number")
    }

    /// Runs a statement, and counts the entries of the core's indexes that it reads.
    pub(crate) async fn entries_read(&mut self, sql: &str) -> u64 {
        let count = "select coalesce(sum(pg_stat_get_xact_tuples_returned(i.indexrelid)), 0)::bigint
            from pg_index i join pg_class c on c.oid = i.indrelid where c.relnamespace = 'pgflow'::regnamespace";
        // Counts of this session are told to others between transactions.
        self.run("begin").await;
        let before: u64 = self.one(count).await.parse().expect("a number");
        self.run(sql).await;
        let after: u64 = self.one(count).await.parse().expect("a number");
        self.run("commit").await;
        after - before
    }
}

//! A statement that is sent and not waited for.

use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use super::answer::Failure;
use super::{Db, Session};

/// Under way in a session of its own.
pub(crate) struct Waiting {
    pid: String,
    answer: JoinHandle<Result<Vec<String>, Failure>>,
}

impl Waiting {
    /// Sends the statement, and returns as soon as it waits for a lock.
    pub(crate) async fn for_a_lock(db: &Db, statement: &str) -> Self {
        let waiting = Self::send(db.session().await, statement).await;
        waiting.until(db, "wait_event_type = 'Lock'").await;
        waiting
    }

    /// Sends the statement, and returns as soon as it waits for a lock or is done.
    pub(crate) async fn for_a_lock_if_any(db: &Db, statement: &str) -> Self {
        let waiting = Self::send(db.session().await, statement).await;
        let until = waiting.state(db, "wait_event_type = 'Lock'");
        until.await.expect("a lock or an end");
        waiting
    }

    /// Returns as soon as it waits for what this session holds.
    pub(crate) async fn comes_to(&self, db: &Db, holder: &mut Session) {
        let holder = holder.one("select pg_backend_pid()").await;
        self.until(db, &format!("{holder} = any (pg_blocking_pids(pid))")).await;
    }

    /// Sends the statement, and returns as soon as it sleeps between two tries.
    pub(crate) async fn for_another_try(db: &Db, statement: &str) -> Self {
        let waiting = Self::send(db.session().await, statement).await;
        waiting.until(db, "wait_event = 'PgSleep'").await;
        waiting
    }

    async fn send(mut session: Session, statement: &str) -> Self {
        let pid = session.one("select pg_backend_pid()").await;
        let statement = statement.to_owned();
        Self { pid, answer: tokio::spawn(async move { session.ask(&statement).await }) }
    }

    async fn until(&self, db: &Db, state: &str) {
        assert!(self.state(db, state).await.expect("in time"), "it did not have to wait");
    }

    /// Waits until it is in this state (true) or done (false).
    async fn state(&self, db: &Db, state: &str) -> Result<bool, String> {
        let look =
            format!("select count(*) from pg_stat_activity where pid = {} and {state}", self.pid);
        let end = Instant::now() + Duration::from_mins(1);
        while db.one(&look).await == "0" {
            if self.answer.is_finished() {
                return Ok(false);
            }
            if Instant::now() > end {
                return Err(format!("it never got as far as: {state}"));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(true)
    }

    /// What came of it.
    pub(crate) async fn answer(self) -> Result<Vec<String>, Failure> {
        self.answer.await.expect("no panic")
    }
}

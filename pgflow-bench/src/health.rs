//! Was the work done right? A fast core that leaves a mess is not fast.

use crate::cases::Case;
use crate::error::{BenchError, Doing, Result};
use crate::target::Target;

/// Fails when an invariant is broken or when connections deadlocked since `deadlocks_before`.
pub(crate) async fn verify(target: &mut Target, case: Case, deadlocks_before: i64) -> Result<()> {
    invariants(target, case.name()).await?;
    let deadlocks = deadlocks(target).await? - deadlocks_before;
    if deadlocks > 0 {
        return Err(unsound(target, case.name(), format!("{deadlocks} deadlocks")));
    }
    Ok(())
}

/// Fails when an invariant is broken.
pub(crate) async fn invariants(target: &mut Target, case: &str) -> Result<()> {
    match broken_invariant(target).await? {
        Some(problem) => Err(unsound(target, case, problem)),
        None => Ok(()),
    }
}

/// Transactions in this database so far; connections that are busy tell about once a second.
pub(crate) async fn transactions(target: &mut Target) -> Result<i64> {
    sqlx::query_scalar("select xact_commit + xact_rollback from pg_stat_database where datname = current_database()")
        .fetch_one(&mut target.probe.conn)
        .await
        .doing("counting transactions")
}

/// Deadlocks in this database so far.
pub(crate) async fn deadlocks(target: &mut Target) -> Result<i64> {
    sqlx::query_scalar("select deadlocks from pg_stat_database where datname = current_database()")
        .fetch_one(&mut target.probe.conn)
        .await
        .doing("counting deadlocks")
}

/// The first row of the core's own check, if it has one.
async fn broken_invariant(target: &mut Target) -> Result<Option<String>> {
    if !target.abilities.check {
        return Ok(None);
    }
    sqlx::query_scalar("select to_jsonb(c)::text from pgflow.check() c limit 1")
        .fetch_optional(&mut target.probe.conn)
        .await
        .doing("checking the invariants")
}

fn unsound(target: &Target, case: &str, problem: String) -> BenchError {
    BenchError::Unsound { target: target.name.clone(), case: case.to_owned(), problem }
}

//! Whose hook a token is.

use pgflow_machine::wait::HookToken;
use pgflow_machine::{RunId, TaskKey};
use uuid::Uuid;

use crate::error::Result;
use crate::session::{Conn, SqliteSession};

const FIND: &str = "select run_id, step, task_index from pgflow_hooks where token = ?1";

const SET: &str = "
    insert into pgflow_hooks (token, run_id, step, task_index) values (?1, ?2, ?3, ?4)
    on conflict (token) do update set run_id = excluded.run_id, step = excluded.step, task_index = excluded.task_index";

const ANNOUNCED: &str = "
    select token from pgflow_hooks
     where run_id = ?1 and step = ?2 and task_index = ?3 and substr(token, 1, 3) = 'hk_'";

pub(super) async fn find<C: Conn>(
    session: &mut SqliteSession<C>,
    token: &HookToken,
) -> Result<Option<TaskKey>> {
    let query = sqlx::query_as(FIND).bind(token.as_str());
    let found: Option<(Uuid, String, u32)> = query.fetch_optional(&mut *session.connection).await?;
    Ok(found.map(|(run, step, index)| TaskKey { run: RunId(run), step, index }))
}

pub(super) async fn set<C: Conn>(
    session: &mut SqliteSession<C>,
    token: &HookToken,
    task: &TaskKey,
) -> Result<()> {
    let query = sqlx::query(SET).bind(token.as_str()).bind(task.run.0).bind(&task.step);
    query.bind(task.index).execute(&mut *session.connection).await?;
    Ok(())
}

pub(super) async fn announced<C: Conn>(
    session: &mut SqliteSession<C>,
    task: &TaskKey,
) -> Result<Option<HookToken>> {
    let query = sqlx::query_scalar(ANNOUNCED).bind(task.run.0).bind(&task.step).bind(task.index);
    let token: Option<String> = query.fetch_optional(&mut *session.connection).await?;
    Ok(token.map(HookToken::from_stored))
}

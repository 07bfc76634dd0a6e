//! Whose hook a token is.

use std::ops::DerefMut;

use pgflow_machine::wait::HookToken;
use pgflow_machine::{RunId, TaskKey};
use sqlx::MySqlConnection;
use uuid::Uuid;

use crate::error::Result;
use crate::jobs::names::text;
use crate::session::MySqlSession;

const FIND: &str = "select run, step, task_index from pgflow_hooks where token = ?";

/// A row that nobody has, so that there is one to lock.
const MAKE: &str =
    "insert into pgflow_hooks (token) values (?) on duplicate key update token = values(token)";

const LOCK: &str = "select run, step, task_index from pgflow_hooks where token = ? for update";

const SET: &str = "
    insert into pgflow_hooks (token, run, step, task_index) values (?, ?, ?, ?)
    on duplicate key update run = values(run), step = values(step), task_index = values(task_index)";

const ANNOUNCED: &str = "
    select token from pgflow_hooks force index (pgflow_hooks_task)
     where run = ? and step = ? and task_index = ? and left(token, 3) = 'hk_'";

type Columns = (Option<Uuid>, Option<Vec<u8>>, Option<u32>);

fn task(found: Option<Columns>) -> Result<Option<TaskKey>> {
    let Some((Some(run), Some(step), Some(index))) = found else { return Ok(None) };
    Ok(Some(TaskKey { run: RunId(run), step: text(step)?, index }))
}

pub(crate) async fn find_hook<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    token: &HookToken,
) -> Result<Option<TaskKey>> {
    let query = sqlx::query_as(FIND).bind(token.as_str().as_bytes());
    task(query.fetch_optional(session.connection()).await?)
}

pub(crate) async fn lock_hook<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    token: &HookToken,
) -> Result<Option<TaskKey>> {
    let name = token.as_str().as_bytes();
    if !token.is_announced() {
        sqlx::query(MAKE).bind(name).execute(session.connection()).await?;
    }
    let query = sqlx::query_as(LOCK).bind(name);
    task(query.fetch_optional(session.connection()).await?)
}

pub(crate) async fn set_hook<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    token: &HookToken,
    task: &TaskKey,
) -> Result<()> {
    let query = sqlx::query(SET).bind(token.as_str().as_bytes()).bind(task.run.0);
    let query = query.bind(task.step.as_bytes()).bind(task.index);
    query.execute(session.connection()).await?;
    Ok(())
}

pub(crate) async fn announced<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    task: &TaskKey,
) -> Result<Option<HookToken>> {
    let query = sqlx::query_scalar(ANNOUNCED).bind(task.run.0).bind(task.step.as_bytes());
    let token: Option<Vec<u8>> =
        query.bind(task.index).fetch_optional(session.connection()).await?;
    Ok(token.map(text).transpose()?.map(HookToken::from_stored))
}

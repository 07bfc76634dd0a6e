//! Permits, holds and what is kept of messages: rows in, rows out.

use std::collections::{BTreeMap, BTreeSet};

use pgflow_machine::Timestamp;
use pgflow_machine::job::{JobId, JobToken};
use pgflow_machine::permit::{PermitKey, PermitKind, Place, Waiting};
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;

use super::look::{self, LookAt};
use super::session::{PostgresSession, Speaks, now_at};
use crate::batch::without_nul;
use crate::claim::int;
use crate::error::{translate, unexpected};
use pgflow_backend::backend::{Hold, MessageRow, TaskHold};
use pgflow_backend::store::{EndedMessages, Look, Looked, PipelineSession, Stored};

const LOAD: &str = concat!(
    "select p.kind, p.name, p.state, ",
    now_at!(),
    " from (select) o left join pgflow.load_permits($1, $2, $3, $4) p on true"
);

const LIST: &str = "select name, state from pgflow.list_permits($1)";

const HOLDS: &str = "
  select resource as name, place, token, batch, units, fence from pgflow.load_holds($1)";

const WRITE: &str = "select from pgflow.note_permits($1, $2, $3)";

const HOLD: &str = "select from pgflow.hold_permits($1, $2, $3, $4, $5, $6)";

const HOLD_FOR_TASKS: &str = "select from pgflow.hold_for_tasks($1, $2, $3, $4, $5, $6, $7)";

const KEEP: &str = "select from pgflow.keep_messages($1, $2, $3)";

/// What is kept comes after what is forgotten: a select list goes from left to right.
const END: &str = "
  select pgflow.end_messages($1, $2, $3, $4) as freed,
         case when $5::text[] is not null then pgflow.keep_messages($5, $6, $7)::text end as kept";

const NEXT: &str = concat!(
    "select (extract(epoch from clock_timestamp() + pgflow.next_job($1) * interval '1 second') * 1000000)::int8 as next_at, ",
    now_at!()
);

const DEPTH: &str = "select pgflow.queue_depth($1, $2) as depth";

const MESSAGE: &str = "
  select batch_key as batch, resources as state, (extract(epoch from not_before) * 1000000)::int8 as not_before
    from pgflow.get_message($1)";

const PRUNE_TURNS: &str = "select pgflow.prune_turns($1, $2) as dropped";

const FORGET: &str = "select pgflow.drop_dead_jobs($1) as dropped";

impl<C: Speaks> PipelineSession for PostgresSession<C> {
    async fn load_permits(
        &mut self,
        keys: &BTreeSet<PermitKey>,
    ) -> Stored<BTreeMap<PermitKey, Value>> {
        let locks = self.connection.locks();
        self.permits(keys, locks, true).await
    }

    async fn permits_of(&mut self, kind: PermitKind) -> Stored<BTreeMap<String, Value>> {
        let rows = self.ask(|| sqlx::query(LIST).bind(kind.word())).await?;
        let named = |row: &PgRow| {
            let name: String = row.try_get("name").map_err(translate)?;
            Ok((name, row.try_get("state").map_err(translate)?))
        };
        rows.iter().map(named).collect()
    }

    /// Who has locked others already waits for nobody.
    async fn load_more_permits(
        &mut self,
        keys: &BTreeSet<PermitKey>,
    ) -> Stored<BTreeMap<PermitKey, Value>> {
        let locks = self.connection.locks();
        self.permits(keys, locks, false).await
    }

    async fn known_permits(
        &mut self,
        keys: &BTreeSet<PermitKey>,
    ) -> Stored<BTreeMap<PermitKey, Value>> {
        self.permits(keys, false, true).await
    }

    async fn message(&mut self, id: &JobId) -> Stored<Option<MessageRow>> {
        let id = without_nul(id.as_str());
        let rows = self.ask(|| sqlx::query(MESSAGE).bind(id.clone())).await?;
        rows.first().map(look::kept).transpose()
    }

    async fn drop_turns(&mut self, queue: &str, max: u32) -> Stored<u64> {
        let queue = without_nul(queue);
        let rows = self.ask(|| sqlx::query(PRUNE_TURNS).bind(queue.clone()).bind(int(max))).await?;
        count(&rows)
    }

    async fn look(&mut self, look: &Look<'_>) -> Stored<Looked> {
        let at = LookAt::new(look, self.connection.locks());
        let rows = self.ask_in_time(|| at.statement()).await?;
        look::read(&rows)
    }

    async fn end_messages(&mut self, ended: &EndedMessages) -> Stored<BTreeSet<String>> {
        let tokens: Vec<_> = ended.tokens.iter().map(|token| without_nul(&token.0)).collect();
        let over: Vec<_> = ended.over.iter().map(JobId::as_str).collect();
        let deferred: Vec<_> = ended.deferred.keys().map(JobId::as_str).collect();
        let until: Vec<_> = ended.deferred.values().map(|until| until.micros()).collect();
        let kept = Kept::of(&ended.kept);
        let is_kept = !ended.kept.is_empty();
        let statement = || {
            let query = sqlx::query(END).bind(&tokens).bind(&over).bind(&deferred).bind(&until);
            let query = query.bind(is_kept.then_some(&kept.ids));
            query.bind(&kept.batch_keys).bind(&kept.resources)
        };
        let rows = self.ask(statement).await?;
        let freed: Vec<String> = rows[0].try_get("freed").map_err(translate)?;
        Ok(freed.into_iter().collect())
    }

    async fn write_permits(&mut self, rows: &BTreeMap<PermitKey, Value>) -> Stored<()> {
        let (kinds, names) = columns(rows.keys());
        let states: Vec<_> = rows.values().map(Json).collect();
        self.ask(|| sqlx::query(WRITE).bind(&kinds).bind(&names).bind(&states)).await.map(drop)
    }

    async fn load_holds(&mut self, resources: &BTreeSet<String>) -> Stored<Vec<Hold>> {
        let resources: Vec<_> = resources.iter().map(|slug| without_nul(slug)).collect();
        let rows = self.ask(|| sqlx::query(HOLDS).bind(&resources)).await?;
        rows.iter().map(look::hold).collect()
    }

    async fn add_holds(&mut self, holds: &[Hold]) -> Stored<()> {
        let job = |hold: &Hold| {
            let id = self.leased.get(&hold.job).cloned();
            id.ok_or_else(|| unexpected("a hold of a message that it has not leased"))
        };
        let jobs = holds.iter().map(job).collect::<Stored<Vec<_>>>()?;
        let jobs: Vec<_> = jobs.iter().map(JobId::as_str).collect();
        let resources: Vec<_> = holds.iter().map(|hold| &*hold.resource).collect();
        let tokens: Vec<_> = holds.iter().map(|hold| &*hold.token).collect();
        let batches: Vec<_> = holds.iter().map(|hold| &*hold.batch).collect();
        let units: Vec<_> = holds.iter().map(|hold| int(hold.units)).collect();
        let fences: Vec<_> =
            holds.iter().map(|hold| i64::try_from(hold.fence).unwrap_or(i64::MAX)).collect();
        let statement = || {
            let query = sqlx::query(HOLD).bind(&resources).bind(&jobs).bind(&tokens);
            query.bind(&batches).bind(&units).bind(&fences)
        };
        self.ask(statement).await.map(drop)
    }

    async fn add_task_holds(&mut self, holds: &[TaskHold]) -> Stored<()> {
        let resources: Vec<_> = holds.iter().map(|hold| &*hold.resource).collect();
        let task = |hold: &TaskHold| hold.lease.task.clone();
        let runs: Vec<_> = holds.iter().map(|hold| task(hold).run.0).collect();
        let steps: Vec<_> = holds.iter().map(|hold| task(hold).step).collect();
        let indexes: Vec<_> = holds.iter().map(|hold| int(task(hold).index)).collect();
        let attempts: Vec<_> = holds.iter().map(|hold| int(hold.lease.attempt)).collect();
        let units: Vec<_> = holds.iter().map(|hold| int(hold.units)).collect();
        let fences: Vec<_> =
            holds.iter().map(|hold| i64::try_from(hold.fence).unwrap_or(i64::MAX)).collect();
        let statement = || {
            let query = sqlx::query(HOLD_FOR_TASKS).bind(&resources).bind(&runs).bind(&steps);
            query.bind(&indexes).bind(&attempts).bind(&units).bind(&fences)
        };
        self.ask(statement).await.map(drop)
    }

    async fn drop_holds(&mut self, tokens: &[JobToken]) -> Stored<BTreeSet<String>> {
        let tokens = tokens.to_vec();
        self.end_messages(&EndedMessages { tokens, ..EndedMessages::default() }).await
    }

    async fn waiting(
        &mut self,
        need: &str,
        after: Option<(i32, i64)>,
        max: u32,
    ) -> Stored<Vec<Waiting>> {
        let rows = self.ask(|| look::more(need, after, max)).await?;
        rows.iter().map(look::message).collect()
    }

    async fn waiting_of(
        &mut self,
        need: &str,
        keys: &[String],
        after: Option<Place>,
        max: u32,
    ) -> Stored<Vec<Waiting>> {
        let locks = self.connection.locks();
        let rows = self.ask(|| look::of_keys(need, keys, after, max, locks)).await?;
        rows.iter().map(look::message).collect()
    }

    async fn depth(&mut self, need: &str, most: u64) -> Stored<u64> {
        let (need, most) = (without_nul(need), i64::try_from(most).unwrap_or(i64::MAX));
        let rows = self.ask(|| sqlx::query(DEPTH).bind(need.clone()).bind(most)).await?;
        let depth: i64 = rows[0].try_get("depth").map_err(translate)?;
        Ok(depth.unsigned_abs())
    }

    async fn next_change(&mut self, need: &str) -> Stored<Option<Timestamp>> {
        let needs = [need];
        let rows = self.ask_in_time(|| sqlx::query(NEXT).bind(&needs[..])).await?;
        let next: Option<i64> = rows[0].try_get("next_at").map_err(translate)?;
        Ok(next.map(Timestamp::from_micros))
    }

    async fn write_messages(&mut self, rows: &BTreeMap<JobId, MessageRow>) -> Stored<()> {
        let kept = Kept::of(rows);
        let statement = || {
            let query = sqlx::query(KEEP).bind(&kept.ids);
            query.bind(&kept.batch_keys).bind(&kept.resources)
        };
        self.ask(statement).await.map(drop)
    }

    async fn defer_messages(&mut self, until: &BTreeMap<JobId, Timestamp>) -> Stored<()> {
        let deferred = until.clone();
        self.end_messages(&EndedMessages { deferred, ..EndedMessages::default() }).await.map(drop)
    }

    async fn drop_messages(&mut self, messages: &[JobId]) -> Stored<()> {
        let over = messages.to_vec();
        self.end_messages(&EndedMessages { over, ..EndedMessages::default() }).await.map(drop)
    }

    async fn forget_dead(&mut self, jobs: &[JobId]) -> Stored<u64> {
        let jobs: Vec<_> = jobs.iter().map(JobId::as_str).collect();
        count(&self.ask(|| sqlx::query(FORGET).bind(&jobs)).await?)
    }
}

impl<C: Speaks> PostgresSession<C> {
    async fn permits(
        &mut self,
        keys: &BTreeSet<PermitKey>,
        locks: bool,
        waits: bool,
    ) -> Stored<BTreeMap<PermitKey, Value>> {
        let (kinds, names) = columns(keys);
        let statement = || {
            let query = sqlx::query(LOAD).bind(&kinds).bind(&names);
            query.bind(locks).bind(waits)
        };
        let rows = self.ask_in_time(statement).await?;
        rows.iter().filter_map(|row| look::permit(row).transpose()).collect()
    }
}

/// Kinds and names. A name that cannot be stored is none that is there.
pub(super) fn columns<'k>(
    keys: impl IntoIterator<Item = &'k PermitKey>,
) -> (Vec<&'static str>, Vec<std::borrow::Cow<'k, str>>) {
    keys.into_iter().map(|key| (key.kind.word(), without_nul(&key.name))).unzip()
}

fn count(rows: &[PgRow]) -> Stored<u64> {
    let dropped: i64 = rows[0].try_get("dropped").map_err(translate)?;
    Ok(dropped.unsigned_abs())
}

/// What is kept of messages, as columns.
struct Kept<'a> {
    ids: Vec<&'a str>,
    batch_keys: Vec<Option<&'a str>>,
    resources: Vec<Option<Json<&'a BTreeMap<String, u32>>>>,
}

impl<'a> Kept<'a> {
    fn of(rows: &'a BTreeMap<JobId, MessageRow>) -> Self {
        let units =
            |row: &'a MessageRow| Some(&row.resources).filter(|units| !units.is_empty()).map(Json);
        Self {
            ids: rows.keys().map(JobId::as_str).collect(),
            batch_keys: rows.values().map(|row| row.batch_key.as_deref()).collect(),
            resources: rows.values().map(units).collect(),
        }
    }
}

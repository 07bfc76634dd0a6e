//! What claims look at, as `look_at_queue` returns it.

use std::borrow::Cow;

use pgflow_machine::Timestamp;
use pgflow_machine::job::JobId;
use pgflow_machine::permit::{PermitKey, PermitKind, Place, Units, Waiting};
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;

use super::permits::columns;
use super::session::now_at;
use crate::claim::int;
use crate::engine::Statement;
use crate::error::{translate, unexpected};
use pgflow_backend::backend::{Hold, MessageRow};
use pgflow_backend::store::{Look, Looked, Stored};

const LOOK: &str = concat!(
    "select w.*, ",
    now_at!(),
    " from (select) o left join pgflow.look_at_queue($1, $2, $3, $4, $5, $6) w on true"
);

const MORE: &str = "select * from pgflow.more_messages($1, $2, $3, $4)";

const OF_KEYS: &str = "select * from pgflow.batch_messages($1, $2, $3, $4, $5, $6)";

/// A look, as parameters.
pub(super) struct LookAt<'a> {
    look: &'a Look<'a>,
    kinds: Vec<&'static str>,
    names: Vec<Cow<'a, str>>,
    locks: bool,
}

impl<'a> LookAt<'a> {
    pub(super) fn new(look: &'a Look<'a>, locks: bool) -> Self {
        let (kinds, names) = columns(&look.permits);
        Self { look, kinds, names, locks }
    }

    pub(super) fn statement(&self) -> Statement<'_> {
        let query = sqlx::query(LOOK).bind(self.look.worker).bind(self.look.need);
        let query = query.bind(&self.kinds).bind(&self.names).bind(int(self.look.max));
        query.bind(self.locks)
    }
}

/// The next messages, after this priority and place.
pub(super) fn more(need: &str, after: Option<Place>, max: u32) -> Statement<'_> {
    let (priority, place) = after.unzip();
    sqlx::query(MORE).bind(need).bind(int(max)).bind(priority).bind(place)
}

/// Messages of these batch keys, after this priority and place.
pub(super) fn of_keys<'q>(
    need: &'q str,
    keys: &'q [String],
    after: Option<Place>,
    max: u32,
    locks: bool,
) -> Statement<'q> {
    let (priority, place) = after.unzip();
    let query = sqlx::query(OF_KEYS).bind(need).bind(keys).bind(int(max));
    query.bind(priority).bind(place).bind(locks)
}

pub(super) fn read(rows: &[PgRow]) -> Stored<Looked> {
    let mut looked = Looked::default();
    for row in rows {
        match row.try_get("what").map_err(translate)? {
            Some("permit") => looked.permits.extend(permit(row)?),
            Some("hold") => looked.holds.push(hold(row)?),
            Some("message") => looked.page.push(message(row)?),
            Some("next") => looked.change = moment(row, "place")?,
            Some(other) => {
                return Err(unexpected(format_args!("a `{other}` as part of a queue")));
            }
            None => {}
        }
    }
    Ok(looked)
}

/// Nothing if the row only says what time it is.
pub(super) fn permit(row: &PgRow) -> Stored<Option<(PermitKey, Value)>> {
    let Some(kind) = row.try_get::<Option<&str>, _>("kind").map_err(translate)? else {
        return Ok(None);
    };
    let kind = PermitKind::from_word(kind)
        .ok_or_else(|| unexpected(format_args!("a permit of kind `{kind}`")))?;
    let name: String = row.try_get("name").map_err(translate)?;
    let state: Value = row.try_get("state").map_err(translate)?;
    Ok(Some((PermitKey { kind, name }, state)))
}

pub(super) fn hold(row: &PgRow) -> Stored<Hold> {
    Ok(Hold {
        resource: row.try_get("name").map_err(translate)?,
        job: row.try_get("place").map_err(translate)?,
        token: row.try_get("token").map_err(translate)?,
        batch: row.try_get("batch").map_err(translate)?,
        units: row.try_get::<i32, _>("units").map_err(translate)?.unsigned_abs(),
        fence: row.try_get::<i64, _>("fence").map_err(translate)?.unsigned_abs(),
    })
}

pub(super) fn message(row: &PgRow) -> Stored<Waiting> {
    let id: String = row.try_get("name").map_err(translate)?;
    let resources: Option<Json<Units>> = row.try_get("state").map_err(translate)?;
    let bytes: i64 = row.try_get("bytes").map_err(translate)?;
    Ok(Waiting {
        job: JobId::from_stored(id),
        priority: row.try_get("priority").map_err(translate)?,
        seq: row.try_get("place").map_err(translate)?,
        since: moment(row, "since")?.unwrap_or_default(),
        bytes: bytes.unsigned_abs(),
        batch_key: row.try_get("batch").map_err(translate)?,
        resources: resources.map(|Json(units)| units).unwrap_or_default(),
        not_before: moment(row, "not_before")?,
        streak: row.try_get::<i32, _>("units").map_err(translate)?.unsigned_abs(),
    })
}

/// What is kept of a message.
pub(super) fn kept(row: &PgRow) -> Stored<MessageRow> {
    let resources: Option<Json<Units>> = row.try_get("state").map_err(translate)?;
    Ok(MessageRow {
        batch_key: row.try_get("batch").map_err(translate)?,
        resources: resources.map(|Json(units)| units).unwrap_or_default(),
        not_before: moment(row, "not_before")?,
    })
}

pub(super) fn moment(row: &PgRow, column: &str) -> Stored<Option<Timestamp>> {
    let micros: Option<i64> = row.try_get(column).map_err(translate)?;
    Ok(micros.map(Timestamp::from_micros))
}

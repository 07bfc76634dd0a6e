//! A schedule as the columns of a table, for stores that have tables.

use std::sync::Arc;

use pgflow_machine::schedule::{Origin, Reading, Schedule, ScheduleSpec, ScheduleStatus};
use pgflow_machine::{CompiledFor, RunId, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

/// The columns. Moments are microseconds since 1970.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "`Schedule` and `ScheduleSpec` document them")]
pub struct ScheduleColumns {
    pub name: String,
    pub flow: String,
    /// JSON: `versions` and `interface`.
    pub program: Option<String>,
    /// JSON.
    pub input: String,
    pub cron: String,
    pub time_zone: String,
    pub missed: String,
    pub overlap: String,
    pub origin: String,
    pub status: String,
    pub paused_at: Option<i64>,
    pub revision: i64,
    pub after_at: i64,
    pub next_at: Option<i64>,
    /// JSON: an array of `at` and `run`.
    pub queued: String,
    pub last_at: Option<i64>,
    pub last_run: Option<Uuid>,
    pub error: Option<String>,
    pub created_at: i64,
}

impl From<&Schedule> for ScheduleColumns {
    fn from(schedule: &Schedule) -> Self {
        let micros = |moment: Option<Timestamp>| moment.map(Timestamp::micros);
        let spec = &schedule.spec;
        Self {
            name: schedule.name.clone(),
            flow: spec.flow.clone(),
            program: spec.compiled_for.as_deref().map(program),
            input: spec.input.to_string(),
            cron: spec.cron.clone(),
            time_zone: spec.zone.clone(),
            missed: spec.missed.to_string(),
            overlap: spec.overlap.to_string(),
            origin: spec.origin.as_str().to_owned(),
            status: schedule.status.as_str().to_owned(),
            paused_at: micros(schedule.paused_at),
            revision: i64::try_from(schedule.revision).unwrap_or(i64::MAX),
            after_at: schedule.after.micros(),
            next_at: micros(schedule.next_at),
            queued: json!(schedule.queued).to_string(),
            last_at: micros(schedule.last_at),
            last_run: schedule.last_run.map(|run| run.0),
            error: schedule.error.clone(),
            created_at: schedule.created_at.micros(),
        }
    }
}

impl ScheduleColumns {
    /// The schedule, broken if nobody can have written what there is.
    pub fn read(self) -> Schedule {
        let mut reading = Reading::default();
        let moment = |micros: Option<i64>| micros.map(Timestamp::from_micros);
        let program = self.program.as_deref().map(|text| reading.json("program", text));
        let spec = ScheduleSpec {
            flow: self.flow,
            compiled_for: program.map(|program: Value| Arc::new(compiled_for(&program))),
            input: reading.json("input", &self.input),
            cron: self.cron,
            zone: self.time_zone,
            missed: reading.word("policy", &self.missed, self.missed.parse().ok()),
            overlap: reading.word("policy", &self.overlap, self.overlap.parse().ok()),
            origin: reading.word("origin", &self.origin, Origin::from_word(&self.origin)),
        };
        let status = ScheduleStatus::from_word(&self.status);
        let schedule = Schedule {
            status: reading.word("status", &self.status, status),
            paused_at: moment(self.paused_at),
            revision: self.revision.unsigned_abs(),
            after: Timestamp::from_micros(self.after_at),
            next_at: moment(self.next_at),
            queued: reading.json("queue", &self.queued),
            last_at: moment(self.last_at),
            last_run: self.last_run.map(RunId),
            error: self.error,
            ..Schedule::new(&self.name, spec, Timestamp::from_micros(self.created_at))
        };
        reading.finish(schedule)
    }
}

/// The same as a row of sqlx. Each database spells a name in its own way, so that comes from elsewhere.
#[cfg(feature = "sql")]
mod sql {
    use sqlx::query::Query;
    use sqlx::{ColumnIndex, Database, Decode, Encode, Row, Type};
    use uuid::Uuid;

    use super::ScheduleColumns;

    impl ScheduleColumns {
        /// Of a row with all columns.
        pub fn of_row<R: Row>(row: &R, name: String) -> sqlx::Result<Self>
        where
            for<'i> &'i str: ColumnIndex<R>,
            for<'r> String: Decode<'r, R::Database> + Type<R::Database>,
            for<'r> i64: Decode<'r, R::Database> + Type<R::Database>,
            for<'r> Uuid: Decode<'r, R::Database> + Type<R::Database>,
        {
            Ok(Self {
                name,
                flow: row.try_get("flow")?,
                program: row.try_get("program")?,
                input: row.try_get("input")?,
                cron: row.try_get("cron")?,
                time_zone: row.try_get("time_zone")?,
                missed: row.try_get("missed")?,
                overlap: row.try_get("overlap")?,
                origin: row.try_get("origin")?,
                status: row.try_get("status")?,
                paused_at: row.try_get("paused_at")?,
                revision: row.try_get("revision")?,
                after_at: row.try_get("after_at")?,
                next_at: row.try_get("next_at")?,
                queued: row.try_get("queued")?,
                last_at: row.try_get("last_at")?,
                last_run: row.try_get("last_run")?,
                error: row.try_get("error")?,
                created_at: row.try_get("created_at")?,
            })
        }

        /// Binds all but the name, in the order of the fields.
        pub fn bind<D: Database>(
            self,
            query: Query<'_, D, D::Arguments>,
        ) -> Query<'_, D, D::Arguments>
        where
            for<'v> String: Encode<'v, D> + Type<D>,
            for<'v> Option<String>: Encode<'v, D>,
            for<'v> i64: Encode<'v, D> + Type<D>,
            for<'v> Option<i64>: Encode<'v, D>,
            for<'v> Option<Uuid>: Encode<'v, D>,
            Uuid: Type<D>,
        {
            let query = query
                .bind(self.flow)
                .bind(self.program)
                .bind(self.input)
                .bind(self.cron)
                .bind(self.time_zone)
                .bind(self.missed)
                .bind(self.overlap)
                .bind(self.origin)
                .bind(self.status);
            let query = query.bind(self.paused_at).bind(self.revision).bind(self.after_at);
            let query = query.bind(self.next_at).bind(self.queued).bind(self.last_at);
            query.bind(self.last_run).bind(self.error).bind(self.created_at)
        }
    }
}

fn program(program: &CompiledFor) -> String {
    json!({ "versions": program.versions, "interface": program.interface }).to_string()
}

fn compiled_for(program: &Value) -> CompiledFor {
    let versions = program["versions"].as_array().into_iter().flatten().filter_map(Value::as_u64);
    let versions = versions.filter_map(|version| version.try_into().ok()).collect();
    CompiledFor { versions, interface: program["interface"].as_str().map(str::to_owned) }
}

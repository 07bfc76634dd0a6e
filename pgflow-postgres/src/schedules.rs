//! Schedules, by the functions of the core.

use std::sync::Arc;

use pgflow_machine::schedule::{
    Fire, Fired, Given, Next, Origin, Paused, Put, Reading, Schedule, ScheduleProblem,
    ScheduleSpec, ScheduleStatus, Tick, check_schedule,
};
use pgflow_machine::{CompiledFor, RunId, Timestamp};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::batch::without_nul;
use super::claim::int;
use super::engine::Lane;
use super::error::{translate, unexpected};
use super::moment::micros_of;
use super::open::Postgres;
use super::problem::{Problem, problem};
use super::start::why_not_started;
use pgflow_backend::backend::{
    BackendError, DueQuery, DueSchedules, NewRun, NewSchedule, Reply, ScheduleQuery, Schedules,
};

/// A moment, from its number.
macro_rules! moment {
    ($parameter:literal) => {
        concat!("timestamptz 'epoch' + ", $parameter, " * interval '1 microsecond'")
    };
}

/// The number of a moment, if it is one that clocks show: `infinity` is none.
macro_rules! number {
    ($moment:literal) => {
        concat!(
            "case when ",
            $moment,
            " between '0001-01-01 UTC' and '9999-12-31 UTC' then (extract(epoch from ",
            $moment,
            ") * 1000000)::bigint end"
        )
    };
}

macro_rules! columns {
    () => {
        concat!(
            "s.name, s.flow_slug, s.versions, s.interface, s.input, s.cron, s.time_zone, s.missed, s.overlap, s.origin, s.status,
             s.revision, s.queued_runs, s.last_run, s.error, array(select coalesce(",
            number!("q.at"),
            ", 0) from unnest(s.queued_at) with ordinality q(at, n) order by q.n) as queued_at, ",
            number!("s.paused_at"),
            " as paused_at, ",
            number!("s.after_at"),
            " as after_at, ",
            number!("s.next_at"),
            " as next_at, ",
            number!("s.last_at"),
            " as last_at, ",
            number!("s.created_at"),
            " as created_at"
        )
    };
}

const PUT: &str = concat!(
    "select pgflow.create_schedule($1, $2, $3, $4, $5, $6, $7, ",
    moment!("$8"),
    ", ",
    moment!("$9"),
    ", $10, $11, $12)"
);
const PAUSE: &str = "select pgflow.pause_schedule($1)";
const RESUME: &str = "select pgflow.resume_schedule($1)";
const REMOVE: &str = "select pgflow.remove_schedule($1, $2)";
const LIST: &str = concat!("select ", columns!(), " from pgflow.list_schedules($1, $2, $3, $4) s");
const DUE: &str = concat!(
    "select ",
    number!("n.now_at"),
    " as now_at, ",
    number!("n.upcoming"),
    " as upcoming, ",
    columns!(),
    " from pgflow.next_schedule($1) n left join lateral pgflow.due_schedules($1, n.now_at, $2) s on true"
);
const FIRE: &str = concat!(
    "select outcome, started, flow_slugs, skipped from pgflow.advance_schedule(
       $1, $2, array(select ",
    moment!("d.at"),
    " from unnest($3::bigint[]) with ordinality d(at, n) order by d.n), $4, ",
    moment!("$5"),
    ", $6, $7, $8)"
);

impl Schedules for Postgres {
    fn put_schedule<'a>(&'a self, new: &'a NewSchedule) -> Reply<'a, Result<Put, ScheduleProblem>> {
        Box::pin(self.put(new))
    }

    fn pause_schedule<'a>(&'a self, name: &'a str, pause: bool) -> Reply<'a, Paused> {
        Box::pin(async move {
            if name.contains('\0') {
                return Ok(Paused::Unknown);
            }
            let statement = || sqlx::query(if pause { PAUSE } else { RESUME }).bind(name);
            let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
            let changed: Option<bool> = rows[0].try_get(0).map_err(translate)?;
            Ok(changed
                .map_or(Paused::Unknown, |now| if now { Paused::Now } else { Paused::Before }))
        })
    }

    fn remove_schedule<'a>(&'a self, name: &'a str, of: Option<Origin>) -> Reply<'a, bool> {
        Box::pin(async move {
            if name.contains('\0') {
                return Ok(false);
            }
            let statement = || sqlx::query(REMOVE).bind(name).bind(of.map(Origin::as_str));
            let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
            rows[0].try_get(0).map_err(translate)
        })
    }

    fn list_schedules<'a>(&'a self, query: &'a ScheduleQuery) -> Reply<'a, Vec<Schedule>> {
        Box::pin(async move {
            let ScheduleQuery { name, flow, after, max } = query;
            let [name, flow, after] = [name, flow, after].map(|it| it.as_deref().map(without_nul));
            let statement = || {
                let list = sqlx::query(LIST).bind(name.as_deref()).bind(flow.as_deref());
                list.bind(after.as_deref()).bind(int(*max))
            };
            let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
            rows.iter().map(read).collect()
        })
    }

    fn due_schedules<'a>(&'a self, query: &'a DueQuery) -> Reply<'a, DueSchedules> {
        Box::pin(async move {
            let statement = || sqlx::query(DUE).bind(&query.flows).bind(int(query.max));
            let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
            let first = rows.first().ok_or_else(|| unexpected("no time"))?;
            let now: i64 = first.try_get("now_at").map_err(translate)?;
            let next: Option<i64> = first.try_get("upcoming").map_err(translate)?;
            let is_there =
                |row: &&PgRow| !matches!(row.try_get::<Option<&str>, _>("name"), Ok(None));
            let schedules = rows.iter().filter(is_there).map(read).collect::<Result<_, _>>()?;
            let (now, next_at) = (Timestamp::from_micros(now), next.map(Timestamp::from_micros));
            Ok(DueSchedules { now, schedules, next_at }.readable())
        })
    }

    fn fire_schedule<'a>(&'a self, fire: &'a Fire<'a>) -> Reply<'a, Fired> {
        Box::pin(self.fire(fire))
    }
}

impl Postgres {
    async fn put(&self, new: &NewSchedule) -> Result<Result<Put, ScheduleProblem>, BackendError> {
        let NewSchedule { name, spec, begins, first_at } = new;
        if let Err(problem) = check_schedule(name, spec, [*begins, *first_at]) {
            return Ok(Err(problem));
        }
        let program = spec.compiled_for.as_ref();
        let versions: Option<Vec<i32>> =
            program.map(|program| program.versions.iter().map(|version| int(*version)).collect());
        let statement = || {
            let query = sqlx::query(PUT).bind(name).bind(&spec.flow).bind(&spec.cron);
            let query = query.bind(&spec.input).bind(&spec.zone).bind(spec.missed.to_string());
            let query = query.bind(spec.overlap.to_string()).bind(first_at.map(micros_of));
            let query = query.bind(begins.map(micros_of)).bind(versions.clone());
            let interface = program.and_then(|program| program.interface.as_deref());
            query.bind(interface).bind(spec.origin.as_str())
        };
        let rows = match self.engine.ask(Lane::Client, statement).await {
            Ok(rows) => rows,
            Err(error) => return refused(spec, error),
        };
        match rows[0].try_get(0).map_err(translate)? {
            "created" => Ok(Ok(Put::Created)),
            "replaced" => Ok(Ok(Put::Replaced)),
            "unchanged" => Ok(Ok(Put::Unchanged)),
            other => Err(unexpected(format_args!("an outcome it does not know: `{other}`"))),
        }
    }

    async fn fire(&self, fire: &Fire<'_>) -> Result<Fired, BackendError> {
        let due: Vec<i64> = fire.due.iter().map(|moment| moment.micros()).collect();
        let runs: Vec<Uuid> = fire.due.iter().map(|at| Tick::new(fire.name, *at).run.0).collect();
        let (next, problem) = match fire.next {
            Next::At(moment) => (Some(moment.micros()), None),
            Next::Never => (None, None),
            Next::Unknown(why) => (None, Some(why)),
        };
        let refusal = match fire.input {
            Given::Nothing(why) => Some(why),
            Given::Stored | Given::Made(_) => None,
        };
        let revision = i64::try_from(fire.revision).unwrap_or(i64::MAX);
        let statement = || {
            let query = sqlx::query(FIRE).bind(fire.name).bind(revision).bind(&due).bind(&runs);
            query.bind(next).bind(problem).bind(fire.input.made()).bind(refusal)
        };
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        let row = rows.first().ok_or_else(|| unexpected("no answer about a schedule"))?;
        let outcome: &str = row.try_get("outcome").map_err(translate)?;
        if outcome == "superseded" {
            return Ok(Fired::Superseded);
        }
        let started: Vec<Uuid> = row.try_get("started").map_err(translate)?;
        let flows: Option<Vec<String>> = row.try_get("flow_slugs").map_err(translate)?;
        for (run, flow) in started.iter().zip(flows.iter().flatten()) {
            self.bell.ring(&self.flows_of_runs.learn(RunId(*run), flow));
        }
        let skipped: i32 = row.try_get("skipped").map_err(translate)?;
        let started = started.into_iter().map(RunId).collect();
        Ok(Fired::Fired { started, skipped: skipped.unsigned_abs() })
    }
}

/// What is wrong with a schedule is said like what is wrong with the start of its runs.
fn refused(
    spec: &ScheduleSpec,
    error: sqlx::Error,
) -> Result<Result<Put, ScheduleProblem>, BackendError> {
    match problem(&error) {
        Some(Problem::BeginsInThePast { begins, now }) => {
            let [begins, now] = [begins, now].map(Timestamp::from_micros);
            Ok(Err(ScheduleProblem::BeginsInThePast { begins, now }))
        }
        Some(Problem::ScheduleTaken { by }) => {
            let by = Origin::from_word(&by).unwrap_or(Origin::Client);
            Ok(Err(ScheduleProblem::Taken { by }))
        }
        _ => {
            let compiled_for = spec.compiled_for.clone();
            let run = NewRun::new(&*spec.flow, spec.input.clone(), RunId(Uuid::nil()));
            Err(why_not_started(&NewRun { compiled_for, ..run }, error))
        }
    }
}

fn read(row: &PgRow) -> Result<Schedule, BackendError> {
    let mut reading = Reading::default();
    let text = |column: &str| row.try_get::<String, _>(column).map_err(translate);
    let moment = |column: &str| {
        let micros = row.try_get::<Option<i64>, _>(column).map_err(translate)?;
        Ok::<_, BackendError>(micros.map(Timestamp::from_micros))
    };
    let versions: Option<Vec<i32>> = row.try_get("versions").map_err(translate)?;
    let interface: Option<String> = row.try_get("interface").map_err(translate)?;
    let compiled_for = versions.map(|versions| {
        let versions = versions.into_iter().map(i32::unsigned_abs).collect();
        Arc::new(CompiledFor { versions, interface })
    });
    let (missed, overlap, origin) = (text("missed")?, text("overlap")?, text("origin")?);
    let spec = ScheduleSpec {
        flow: text("flow_slug")?,
        compiled_for,
        input: row.try_get("input").map_err(translate)?,
        cron: text("cron")?,
        zone: text("time_zone")?,
        missed: reading.word("policy", &missed, missed.parse().ok()),
        overlap: reading.word("policy", &overlap, overlap.parse().ok()),
        origin: reading.word("origin", &origin, Origin::from_word(&origin)),
    };
    let status = text("status")?;
    let queued_at: Vec<i64> = row.try_get("queued_at").map_err(translate)?;
    let queued_runs: Vec<Uuid> = row.try_get("queued_runs").map_err(translate)?;
    let tick = |(at, run)| Tick { at: Timestamp::from_micros(at), run: RunId(run) };
    let last_run: Option<Uuid> = row.try_get("last_run").map_err(translate)?;
    let schedule = Schedule {
        status: reading.word("status", &status, ScheduleStatus::from_word(&status)),
        paused_at: moment("paused_at")?,
        revision: row.try_get::<i64, _>("revision").map_err(translate)?.unsigned_abs(),
        after: moment("after_at")?.unwrap_or_default(),
        next_at: moment("next_at")?,
        queued: queued_at.into_iter().zip(queued_runs).map(tick).collect(),
        last_at: moment("last_at")?,
        last_run: last_run.map(RunId),
        error: row.try_get("error").map_err(translate)?,
        ..Schedule::new(&text("name")?, spec, moment("created_at")?.unwrap_or_default())
    };
    Ok(reading.finish(schedule))
}

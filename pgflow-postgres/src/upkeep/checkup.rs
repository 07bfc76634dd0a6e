//! How the server and the schema are doing.

use std::time::{Duration, SystemTime};

use pgflow_machine::Timestamp;
use sqlx::{PgConnection, PgPool, Row, Transaction};

use super::super::engine::Lane;
use super::super::error::code;
use super::super::migrate::{Core, MigrateError};
use super::super::open::Postgres;
use super::super::shared;
use super::translate;
use pgflow_backend::backend::{BackendError, Checkup, SchemaState, Severity};

const APPLIED: &str = "
  select max(m.name) filter (where m.name ~ '^[0-9]{4}_') as name,
         array_agg(distinct m.library) as libraries
    from pgflow.migrations m";

/// Rows that are dead and still there, of a table that has more of them than live ones.
const DEAD: &str = "
  select s.schemaname || '.' || s.relname as name, s.n_dead_tup as dead, s.n_live_tup as live
    from pg_catalog.pg_stat_user_tables s
   where s.schemaname in ('pgflow', 'pgmq') and s.n_dead_tup > 100000 and s.n_dead_tup > s.n_live_tup
   order by 2 desc limit 5";

/// The transaction that has kept vacuum from cleaning up for longest, if this login may see it.
const OLDEST: &str = "
  select a.pid, coalesce(a.application_name, '') as name, extract(epoch from clock_timestamp() - a.xact_start)::float8 as age
    from pg_catalog.pg_stat_activity a
   where a.backend_xmin is not null and a.xact_start is not null and a.pid <> pg_catalog.pg_backend_pid()
     and a.datname = pg_catalog.current_database()
   order by a.xact_start limit 1";

/// Settings, and what they should be.
const SETTINGS: &str = "
  select current_setting('server_version') as version, current_setting('fsync') as fsync,
         current_setting('full_page_writes') as full_page_writes,
         current_setting('synchronous_commit') as synchronous_commit,
         pg_catalog.pg_is_in_recovery() as is_standby,
         current_setting('default_transaction_read_only') as read_only,
         (extract(epoch from clock_timestamp()) * 1000000)::bigint as now,
         (select count(*) from pg_catalog.pg_roles r
           where r.rolname in ('pgflow_client', 'pgflow_worker', 'pgflow_viewer')) as roles";

/// What roles should be able to call and cannot: somebody took it away, or the roles came after the schema.
const UNGRANTED: &str = "
  select r.rolname || ' may not call pgflow.' || p.proname
    from (values ('pgflow_client', 'start_run'), ('pgflow_client', 'list_runs'), ('pgflow_client', 'cancel_run'),
                 ('pgflow_worker', 'claim_tasks'), ('pgflow_worker', 'settle_and_claim'), ('pgflow_worker', 'heartbeat'),
                 ('pgflow_viewer', 'list_runs'), ('pgflow_viewer', 'list_workers')) wanted(role, name)
    join pg_catalog.pg_roles r on r.rolname = wanted.role
    join pg_catalog.pg_proc p on p.proname = wanted.name and p.pronamespace = pg_catalog.to_regnamespace('pgflow')
   where not pg_catalog.has_function_privilege(r.oid, p.oid, 'execute')
      or not pg_catalog.has_schema_privilege(r.oid, p.pronamespace, 'usage')
   order by 1";

/// A snapshot that is older keeps dead rows of every queue.
const OLD_SNAPSHOT: Duration = Duration::from_mins(10);

impl Postgres {
    pub(super) async fn look_at_server(&self) -> Result<Checkup, BackendError> {
        let mut checkup = Checkup::of("postgres");
        let state = self.read_schema_state().await?;
        let pool = self.pool()?;
        let looked = self.look_with(state, &pool, &mut checkup).await;
        pool.close().await;
        looked.map_err(translate)?;
        Ok(checkup)
    }

    /// What was applied last, and by which library.
    pub(super) async fn read_schema_state(&self) -> Result<SchemaState, BackendError> {
        let rows = match self.engine.ask(Lane::Client, || sqlx::query(APPLIED)).await {
            Err(error) if is_denied(&error) => return Ok(SchemaState::Hidden),
            Err(error) if code(&error).as_deref() == Some("42P01") => {
                return Ok(SchemaState::Missing);
            }
            answer => answer.map_err(translate)?,
        };
        let libraries: Option<Vec<String>> = rows[0].try_get("libraries").map_err(translate)?;
        let found: Option<String> = rows[0].try_get("name").map_err(translate)?;
        let Some(found) = found else { return Ok(SchemaState::Missing) };
        Ok(Core::embedded().state_of(found, libraries.unwrap_or_default()))
    }

    async fn look_with(
        &self,
        state: SchemaState,
        pool: &PgPool,
        checkup: &mut Checkup,
    ) -> Result<(), sqlx::Error> {
        let mut tx = self.begin_to_look(pool).await?;
        look_at_settings(&mut tx, checkup).await?;
        self.look_at_pooler(checkup);
        let is_there = look_at_schema(state, pool, checkup).await?;
        look_at_dead_rows(&mut tx, checkup).await?;
        look_at_snapshots(&mut tx, checkup).await?;
        if is_there {
            look_at_grants(&mut tx, checkup).await?;
        }
        tx.rollback().await
    }

    /// A pooler may give each transaction another session, and preparing and executing are two exchanges.
    pub(super) async fn begin_to_look(
        &self,
        pool: &PgPool,
    ) -> Result<Transaction<'static, sqlx::Postgres>, sqlx::Error> {
        pool.begin_with(if self.direct_is_pooled { shared::BEGIN } else { "begin" }).await
    }

    fn look_at_pooler(&self, checkup: &mut Checkup) {
        let is_pooled = self.engine.is_pooled();
        checkup.fact("pooler", if is_pooled { "transactions share sessions" } else { "none" });
        if self.direct_is_pooled {
            checkup.find(
                "pooler",
                Severity::Warning,
                "a pooler shares sessions between transactions, so there are no hints from other processes: workers \
                 look once a second",
                "set PGFLOW_LISTEN_URL to a direct connection",
            );
        }
    }
}

async fn look_at_settings(
    connection: &mut PgConnection,
    checkup: &mut Checkup,
) -> Result<(), sqlx::Error> {
    let before = SystemTime::now();
    let row = sqlx::query(SETTINGS).persistent(false).fetch_one(connection).await?;
    let trip = before.elapsed().unwrap_or_default();
    checkup.fact("server", format_args!("Postgres {}", row.try_get::<&str, _>("version")?));
    for (name, code, fix) in [
        (
            "fsync",
            "fsync-off",
            "set fsync = on: after a crash of the machine the database may be damaged",
        ),
        (
            "full_page_writes",
            "full-page-writes-off",
            "set full_page_writes = on: after a crash of the machine the database may be damaged",
        ),
        (
            "synchronous_commit",
            "synchronous-commit-off",
            "set synchronous_commit = on: after a crash of the server the last results may be lost",
        ),
    ] {
        let value: &str = row.try_get(name)?;
        checkup.fact(name, value);
        if value == "off" {
            let severity =
                if name == "synchronous_commit" { Severity::Warning } else { Severity::Error };
            checkup.find(code, severity, format!("{name} is off"), fix);
        }
    }
    let is_standby: bool = row.try_get("is_standby")?;
    if is_standby || row.try_get::<&str, _>("read_only")? == "on" {
        checkup.read_only(
            if is_standby { "the server is a standby" } else { "transactions are read-only" },
            "connect to the primary, or set default_transaction_read_only = off",
        );
    }
    checkup.clock(Timestamp::from_micros(row.try_get("now")?), before, trip);
    if row.try_get::<i64, _>("roles")? < 3 {
        checkup.fact("roles", "not all of pgflow_client, pgflow_worker, pgflow_viewer are there");
    }
    Ok(())
}

/// Whether our schema is there, in whatever version; and if it is the right one, whether it is whole.
async fn look_at_schema(
    state: SchemaState,
    pool: &PgPool,
    checkup: &mut Checkup,
) -> Result<bool, sqlx::Error> {
    checkup.schema(&state);
    if state != SchemaState::Current {
        return Ok(state != SchemaState::Missing);
    }
    match Core::embedded().pending(pool).await {
        Ok(pending) if pending.files.is_empty() => {
            checkup.fact("schema", format_args!("{:04}", pending.version));
        }
        Ok(pending) => checkup.find(
            "schema-behind",
            Severity::Error,
            format!("{} functions of the schema are older than this program", pending.files.len()),
            "run `pgflow install`, or call `db.migrate()`",
        ),
        Err(MigrateError::Database { source, .. }) if is_denied(&source) => {
            checkup.fact("schema", "this login may not look");
        }
        Err(MigrateError::Database { source, .. }) => return Err(source),
        Err(error) => {
            let text = error.to_string();
            let (what, fix) = text.split_once("\nhelp: ").unwrap_or((&text, "undo that"));
            checkup.find("schema-changed", Severity::Error, what, fix);
        }
    }
    Ok(true)
}

fn is_denied(error: &sqlx::Error) -> bool {
    code(error).as_deref() == Some("42501")
}

async fn look_at_dead_rows(
    connection: &mut PgConnection,
    checkup: &mut Checkup,
) -> Result<(), sqlx::Error> {
    for row in sqlx::query(DEAD).persistent(false).fetch_all(connection).await? {
        let (name, dead): (String, i64) = (row.try_get("name")?, row.try_get("dead")?);
        checkup.find(
            "dead-tuples",
            Severity::Warning,
            format!("{name} has {dead} dead rows and {} live ones", row.try_get::<i64, _>("live")?),
            format!("run `vacuum {name}`, and see what keeps autovacuum from it"),
        );
    }
    Ok(())
}

async fn look_at_snapshots(
    connection: &mut PgConnection,
    checkup: &mut Checkup,
) -> Result<(), sqlx::Error> {
    let Some(row) = sqlx::query(OLDEST).persistent(false).fetch_optional(connection).await? else {
        return Ok(());
    };
    let (pid, age): (i32, f64) = (row.try_get("pid")?, row.try_get("age")?);
    checkup.fact("oldest_transaction_seconds", format_args!("{age:.0}"));
    if age > OLD_SNAPSHOT.as_secs_f64() {
        let name: String = row.try_get("name")?;
        checkup.find(
            "old-snapshot",
            Severity::Warning,
            format!("session {pid} ({name}) has had a transaction open for {:.0} minutes", age / 60.0),
            format!("end it: `select pg_terminate_backend({pid})`; until then dead rows of all queues stay"),
        );
    }
    Ok(())
}

async fn look_at_grants(
    connection: &mut PgConnection,
    checkup: &mut Checkup,
) -> Result<(), sqlx::Error> {
    let ungranted: Vec<String> =
        sqlx::query_scalar(UNGRANTED).persistent(false).fetch_all(connection).await?;
    for what in ungranted {
        checkup.find(
            "missing-grant",
            Severity::Error,
            what,
            "run `select pgflow.grant_roles()` as the owner of the schema",
        );
    }
    Ok(())
}

//! Each finding, made real, and no false alarm.

use std::time::Duration;

use pgflow::Db;
use pgflow::backend::{JobStanding, WaitQuery, WorkerCard};
use pgflow::job::JobStatus;
use pgflow::pipeline::Rate;
use pgflow_machine::WorkerId;
use pgflow_test_support::{
    Clock, MariaDb, MariaDbDatabase, MariaDbOptions, PgBouncer, PoolMode, Server, ServerOptions,
    TestDb,
};
use pgflow_worker_tests::{Fresh, Outcome, Working};
use serde_json::Value;
use sqlx::{Connection as _, PgConnection, SqliteConnection};

use crate::jobs::age_at;
use crate::permits::{self, docs, frames, letters};
use crate::place::{Scratch, change, each, ended, json, pgflow, program, sums};
use crate::waits::approval;
use crate::why::silence;

/// What the servers of tests are: fast and forgetful.
const FORGETFUL: [&str; 4] =
    ["fsync-off", "full-page-writes-off", "synchronous-commit-off", "not-durable"];

/// The codes of all findings but those.
pub(crate) async fn codes(url: &str) -> Vec<String> {
    codes_of(program(url, &["doctor", "--json"])).await
}

/// The same without what reads every run: for tables that were changed by hand.
pub(crate) async fn quick_codes(url: &str) -> Vec<String> {
    codes_of(program(url, &["doctor", "--quick", "--json"])).await
}

async fn codes_of(doctor: std::process::Command) -> Vec<String> {
    let report = ended(doctor).await.json();
    let findings = report["findings"].as_array().expect("findings").iter();
    let codes = findings.map(|finding| finding["code"].as_str().expect("a code").to_owned());
    codes.filter(|code| !FORGETFUL.contains(&&**code)).collect()
}

async fn on_postgres(url: &str, sql: &'static str) -> Outcome {
    change(url, "", sql).await
}

/// None but those that the servers of tests always have.
const NONE: [&str; 0] = [];

/// A bit of everything that may wait, and has waited for ten minutes: for a moment, an answer, a rate, a resource, a batch,
/// another job, a key, and because somebody has just paused it.
async fn busy(db: &Db, url: &str) -> Outcome {
    db.schedule("nightly").flow(sums::Flow, &vec![1]).cron("0 3 * * *").await?;
    db.start(sums::Flow, &vec![1, 2]).await?.output().await?;
    db.start(approval::Flow, 7).await?;
    db.start(sums::Flow, &vec![3]).delay(Duration::from_hours(1)).await?;
    let first = docs().push(db, &1).await?;
    db.job(&first).wait().await?;
    docs().push(db, &2).await?;
    let held = frames().push(db, &1).await?;
    while !matches!(db.job(&held).status().await?, JobStanding::Live(JobStatus::Active)) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let waiting = frames().push(db, &2).await?;
    letters().push(db, &1).await?;
    db.submit_raw("report.mailed", Value::from(7)).delay(Duration::from_hours(1)).await?;
    db.submit_raw("report.mailed", Value::from(8)).after([&db.job(&waiting)]).await?;
    db.submit_raw("report.mailed", Value::from(9)).await?;
    while db.waits(&WaitQuery::default()).await?.is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    age_at(url, "600").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_healthy_database_has_no_findings() -> Outcome {
    let server = Server::start(ServerOptions { fsync: true, ..ServerOptions::default() })?;
    let database = TestDb::new_on(&server).await;
    let sqlite = Fresh::sqlite().await?;
    let mariadb = MariaDb::start(&MariaDbOptions { fsync: true, ..MariaDbOptions::default() })?;
    for url in [sqlite.url.clone(), database.url(), MariaDbDatabase::new_on(&mariadb).url()] {
        let db = Db::connect(&url).await?;
        db.migrate().await?;
        db.register(sums::Flow).await?;
        db.register(approval::Flow).await?;
        db.resource("gpu").capacity(1).await?;
        db.rate("api").set(Rate::per_hour(1)).await?;
        let worker = Working::start(permits::worker(&db).flow(sums::Flow).flow(approval::Flow));
        busy(&db, &url).await?;
        let report = pgflow(&url, &["doctor"]).await;
        assert_eq!(report.code(), 0, "{}", report.text());
        assert!(report.stdout().contains("all is well"), "{}", report.text());
        let json = json(&url, &["doctor", "--quick"]).await;
        assert_eq!(json["findings"], Value::Array(Vec::new()), "{json}");
        assert_eq!(json["facts"]["workers"], "1");
        let names = json["facts"]["served"].as_str().expect("a text");
        assert!(names.contains("sums") && names.contains("frames"), "{json}");
        assert_eq!(json["facts"]["oldest_ready_job"], "10 min", "{json}");

        // What is kept for good is something else.
        crate::place::json(&url, &["queue", "rate", "api", "0"]).await;
        assert_eq!(codes(&url).await, ["blocked"; 2], "a queue and a need: {url}");
        crate::place::json(&url, &["queue", "rate", "api", "1/h"]).await;
        assert_eq!(codes(&url).await, NONE, "the fix fixes it");
        worker.stop().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgetful_server_is_named() -> Outcome {
    for (place, signs) in [
        (
            Fresh::postgres().await?,
            &[FORGETFUL[0], FORGETFUL[1], FORGETFUL[2], "set fsync = on"][..],
        ),
        (Fresh::mysql().await?, &[FORGETFUL[3], "set `innodb_flush_log_at_trx_commit = 1`"]),
    ] {
        let report = pgflow(&place.url, &["doctor"]).await;
        assert_eq!(report.code(), 1, "{}", report.text());
        for sign in signs {
            assert!(report.stdout().contains(sign), "{}", report.text());
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_that_are_missing_or_silent_are_named() -> Outcome {
    for place in each().await? {
        place.db.start(sums::Flow, &vec![1]).await?;
        assert_eq!(codes(&place.url).await, NONE, "a moment is no time");
        let aged = "update pgflow_tasks set ready_at = ready_at - 60000000;
            update pgflow_steps set started_at = started_at - 60000000";
        change(&place.url, aged, "update pgmq.q_sums set vt = vt - interval '1 minute', enqueued_at = enqueued_at - interval '1 minute'").await?;
        assert_eq!(codes(&place.url).await, ["no-worker"]);
        let card = WorkerCard {
            id: WorkerId::new(),
            host: None,
            pid: 1,
            queues: vec!["sums".to_owned()],
            slots: 1,
        };
        place.db.backend().sign_on(&card).await?;
        assert_eq!(codes(&place.url).await, NONE, "it is served");
        let aged = "update pgflow_tasks set ready_at = ready_at - 600000000;
            update pgflow_steps set started_at = started_at - 600000000";
        change(&place.url, aged, "update pgmq.q_sums set vt = vt - interval '10 minutes', enqueued_at = enqueued_at - interval '10 minutes'").await?;
        assert_eq!(codes(&place.url).await, ["late"]);
        silence(&place.url).await?;
        assert_eq!(codes(&place.url).await, ["no-worker", "lost-worker"]);
        silence(&place.url).await?;
        assert_eq!(codes(&place.url).await, ["no-worker"], "that is history");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_edited_by_hand_is_named() -> Outcome {
    for place in each().await? {
        place.db.start(sums::Flow, &vec![1]).await?;
        change(
            &place.url,
            "update pgflow_runs set remaining_steps = 1",
            "update pgflow.runs set remaining_steps = 1",
        )
        .await?;
        let codes = codes(&place.url).await;
        assert!(!codes.is_empty() && codes.iter().all(|code| code == "violation"), "{codes:?}");
        let quick = json(&place.url, &["doctor", "--quick"]).await;
        assert!(!quick.to_string().contains("violation"), "{quick}");
    }
    for place in [Fresh::sqlite().await?, Fresh::mysql().await?] {
        let edited = "update pgflow_migrations set checksum = 'x' where name like '0001%'";
        change(&place.url, edited, "").await?;
        assert_eq!(codes(&place.url).await, ["schema-changed"]);
    }
    let place = Fresh::postgres().await?;
    on_postgres(&place.url, "create or replace function pgflow.current_flow(flow_name text) returns text language sql as 'select flow_name'").await?;
    assert_eq!(codes(&place.url).await, ["schema-changed"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_that_are_missing_are_named() -> Outcome {
    let place = Fresh::postgres().await?;
    on_postgres(&place.url, "revoke execute on function pgflow.heartbeat from pgflow_worker")
        .await?;
    assert_eq!(codes(&place.url).await, ["missing-grant"]);
    on_postgres(&place.url, "select pgflow.grant_roles()").await?;
    assert_eq!(codes(&place.url).await, NONE, "the fix fixes it");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_are_dead_and_still_there_are_named() -> Outcome {
    let place = Fresh::postgres().await?;
    place.db.register(sums::Flow).await?;
    let died = "alter table pgmq.q_sums set (autovacuum_enabled = off);
        insert into pgmq.q_sums (vt, message) select now(), '{}' from generate_series(1, 100001);
        delete from pgmq.q_sums";
    on_postgres(&place.url, died).await?;
    // The server counts what a session did a moment later.
    while codes(&place.url).await != ["dead-tuples"] {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    let report = pgflow(&place.url, &["doctor"]).await.stdout();
    assert!(report.contains("pgmq.q_sums has 100001 dead rows and 0 live ones"), "{report}");
    on_postgres(&place.url, "vacuum pgmq.q_sums").await?;
    while codes(&place.url).await != NONE {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    Ok(())
}

/// The server's clock is moved on while a transaction is open: it is then old, and the clock is wrong.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_snapshot_and_a_clock_that_is_wrong_are_named() -> Outcome {
    let scratch = Scratch::new("clock")?;
    let clock = Clock::new(scratch.path())?;
    let env = clock.env().into();
    let server = Server::start(ServerOptions { env, ..ServerOptions::default() })?;
    let database = TestDb::new_on(&server).await;
    let mut connection = PgConnection::connect(&database.url()).await?;
    sqlx::raw_sql("begin isolation level repeatable read; select 1 from pgflow.runs")
        .execute(&mut connection)
        .await?;
    assert_eq!(codes(&database.url()).await, NONE, "it is young");
    clock.set(11 * 60)?;
    assert_eq!(codes(&database.url()).await, ["clock-skew", "old-snapshot"]);
    let report = pgflow(&database.url(), &["doctor"]).await.stdout();
    assert!(report.contains("has had a transaction open for 11 minutes"), "{report}");
    assert!(report.contains("s ahead of this machine's"), "{report}");
    sqlx::raw_sql("rollback").execute(&mut connection).await?;
    assert_eq!(codes(&database.url()).await, ["clock-skew"]);
    clock.set(0)?;
    assert_eq!(codes(&database.url()).await, NONE, "the fixes fix it");
    Ok(())
}

/// Here it is the operator's machine whose clock is wrong.
#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_wrong_here_is_named() -> Outcome {
    let scratch = Scratch::new("clock-here")?;
    let clock = Clock::new(scratch.path())?;
    for place in [Fresh::postgres().await?, Fresh::mysql().await?] {
        for (seconds, found) in
            [(0, &[][..]), (3, &[]), (90, &["clock-skew"]), (-90, &["clock-skew"])]
        {
            clock.set(seconds)?;
            let mut doctor = program(&place.url, &["doctor", "--json"]);
            doctor.envs(clock.env());
            assert_eq!(codes_of(doctor).await, found, "{seconds} s, {}", place.url);
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_that_shares_sessions_is_named() -> Outcome {
    let database = TestDb::new().await;
    for (mode, found) in [(PoolMode::Session, &[][..]), (PoolMode::Transaction, &["pooler"])] {
        let pooler = PgBouncer::start(&database, mode);
        assert_eq!(codes(&pooler.url()).await, found);
        let mut doctor = program(&pooler.url(), &["doctor", "--json"]);
        doctor.env("PGFLOW_LISTEN_URL", database.url());
        assert_eq!(codes_of(doctor).await, NONE, "the fix fixes it");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_is_named() -> Outcome {
    let mut server = Server::start(ServerOptions::default())?;
    let database = TestDb::new_on(&server).await;
    let mut connection = PgConnection::connect(&database.url()).await?;
    let data: String = sqlx::query_scalar("show data_directory").fetch_one(&mut connection).await?;
    drop(connection);
    std::fs::write(std::path::Path::new(&data).join("standby.signal"), "")?;
    server.restart()?;
    assert_eq!(codes(&database.url()).await, ["read-only"]);
    let report = pgflow(&database.url(), &["doctor"]).await;
    assert!(report.stdout().contains("the server is a standby"), "{}", report.text());
    assert_eq!(pgflow(&database.url(), &["ls"]).await.code(), 0, "it can be read");
    on_postgres(&database.url(), "select pg_promote()").await?;
    assert_eq!(codes(&database.url()).await, NONE);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_grows_is_named() -> Outcome {
    let place = Fresh::sqlite().await?;
    let file = place.url.strip_prefix("sqlite:").expect("a file");
    let (mut reader, mut writer) =
        (SqliteConnection::connect(file).await?, SqliteConnection::connect(file).await?);
    sqlx::raw_sql("begin; select 1 from pgflow_flows").fetch_all(&mut reader).await?;
    assert_eq!(codes(&place.url).await, NONE);
    let grown = "create table ballast (x); insert into ballast values (zeroblob(258 << 20))";
    sqlx::raw_sql(grown).execute(&mut writer).await?;
    assert_eq!(codes(&place.url).await, ["large-log"]);
    sqlx::raw_sql("commit").execute(&mut reader).await?;
    sqlx::raw_sql("pragma wal_checkpoint(truncate)").execute(&mut writer).await?;
    assert_eq!(codes(&place.url).await, NONE, "the fix fixes it");
    Ok(())
}

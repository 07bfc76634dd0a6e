//! Migrations that end in the middle, and databases that are not ours.

use std::collections::BTreeMap;
use std::time::Duration;

use pgflow_machine::RunId;
use pgflow_migrations::mysql::NUMBERED;
use pgflow_mysql_tests::{Cut, Proxy, chain, ensure, text};
use pgflow_runtime::backend::{Backend, BackendError, NewRun, Runs};
use pgflow_runtime::mysql::MySql;
use pgflow_test_support::{MariaDb, MariaDbDatabase, MariaDbOptions};
use sqlx::mysql::{MySqlConnectOptions, MySqlDatabaseError};
use sqlx::{Connection as _, MySqlConnection};

async fn open(url: &str) -> MySql {
    MySql::connect(url).await.unwrap_or_else(|error| panic!("{}", text(&error)))
}

/// Places at which a migration is cut in one run of the tests, other ones each time.
const TRIES: u32 = 8;

/// Tables, columns and indexes, and what is noted about them.
fn shape(server: &MariaDb, database: &MariaDbDatabase) -> String {
    let name = database.name();
    let sql = format!(
        "select table_name, column_name, column_type, collation_name, is_nullable from information_schema.columns
          where table_schema = '{name}' order by 1, ordinal_position;
         select table_name, index_name, seq_in_index, column_name from information_schema.statistics
          where table_schema = '{name}' order by 1, 2, 3;
         select name, checksum, done_at is not null from {name}.pgflow_migrations order by name;
         select * from {name}.pgflow_definitions; select * from {name}.pgflow_news"
    );
    server.sql(&sql).expect("it can be read")
}

/// Through a proxy that cuts every connection at one command; how many commands there were.
async fn migrate_through(server: &MariaDb, database: &MariaDbDatabase, cut: Cut) -> (bool, u32) {
    let proxy = Proxy::start(server.port(), cut).await;
    let url = format!("mysql://root@127.0.0.1:{}/{}", proxy.port(), database.name());
    let migrated = match MySql::connect(&url).await {
        Ok(mysql) => mysql.migrate().await,
        Err(error) => Err(error),
    };
    if let Err(error) = &migrated {
        assert!(matches!(error, BackendError::Unreachable(_)), "{cut:?}: {}", text(error));
    }
    (migrated.is_ok(), proxy.commands())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_that_is_cut_is_finished_by_the_next() {
    let server = MariaDb::shared().await;
    let whole = MariaDbDatabase::new().await;
    let (is_done, commands) = migrate_through(server, &whole, Cut::Never).await;
    assert!(is_done && commands > 30, "{commands} commands");
    let expected = shape(server, &whole);
    // Not everywhere each time: that takes minutes.
    let apart = commands / TRIES;
    let first = std::process::id() % apart;
    let (mut cuts, mut tries) = (0, 0);
    for (n, at) in (first..commands).step_by(apart as usize).enumerate() {
        let cut = if n % 2 == first as usize % 2 { Cut::Before(at) } else { Cut::After(at) };
        let database = MariaDbDatabase::new().await;
        let (is_done, _) = migrate_through(server, &database, cut).await;
        (cuts, tries) = (cuts + u32::from(!is_done), tries + 1);
        let (is_done, _) = migrate_through(server, &database, Cut::Never).await;
        assert!(is_done, "{cut:?}");
        assert_eq!(shape(server, &database), expected, "{cut:?}");
    }
    assert!(cuts * 4 > tries * 3, "only {cuts} of {tries} were cut");
}

/// What a statement of the migrations leads to, if it is refused: the server's number of the error.
async fn apply(connection: &mut MySqlConnection, sql: &'static str) -> Option<u16> {
    let error = sqlx::raw_sql(sql).execute(connection).await.err()?;
    let refused = error.as_database_error().expect("the server answers");
    Some(refused.downcast_ref::<MySqlDatabaseError>().number())
}

/// As the backend makes them: views keep the collation of the session.
async fn session(database: &MariaDbDatabase) -> MySqlConnection {
    let options: MySqlConnectOptions = database.url().parse().expect("a URL");
    let options = options.charset("utf8mb4").collation("utf8mb4_bin");
    MySqlConnection::connect_with(&options).await.expect("it is there")
}

/// Notes that a database has all statements up to one, and whether that was noted as done.
fn note(
    server: &MariaDb,
    (from, to): (&MariaDbDatabase, &MariaDbDatabase),
    last: &str,
    done: bool,
) {
    let (from, to) = (from.name(), to.name());
    let sql = format!(
        "drop table if exists {to}.pgflow_migrations;
         create table {to}.pgflow_migrations like {from}.pgflow_migrations;
         insert into {to}.pgflow_migrations
         select name, checksum, begun_at, case when name < '{last}' or {done} then done_at end
           from {from}.pgflow_migrations where name <= '{last}'"
    );
    server.sql(&sql).expect("it can be noted");
}

/// Whichever statement was applied and not noted as done: applied again, it changes nothing, and is taken for done.
#[tokio::test(flavor = "multi_thread")]
async fn every_statement_can_be_applied_again() {
    let server = MariaDb::shared().await;
    let (whole, twice) = (MariaDbDatabase::new().await, MariaDbDatabase::new().await);
    open(&whole.url()).await.migrate().await.expect("it gets its schema");
    let expected = shape(server, &whole);
    let names = format!("select name from {}.pgflow_migrations order by name", whole.name());
    let names = server.sql(&names).expect("it can be read");
    let statements = NUMBERED.iter().flat_map(|(_, text)| text.split_inclusive(";\n"));
    let statements: Vec<_> = statements.map(str::trim).filter(|sql| !sql.is_empty()).collect();
    assert_eq!(names.lines().count(), statements.len());

    let mut connection = session(&twice).await;
    let mut refusals = BTreeMap::new();
    for (at, (name, sql)) in names.lines().zip(&statements).enumerate() {
        assert_eq!(apply(&mut connection, sql).await, None, "{name}");
        if let Some(number) = apply(&mut connection, sql).await {
            refusals.entry(number).or_insert((at, name));
        }
    }
    note(server, (&whole, &twice), names.lines().last().expect("some"), true);
    assert_eq!(shape(server, &twice), expected);

    assert!(refusals.len() > 3, "{refusals:?}");
    for (number, (at, name)) in refusals {
        let cut = MariaDbDatabase::new().await;
        let mut connection = session(&cut).await;
        for sql in &statements[..=at] {
            assert_eq!(apply(&mut connection, sql).await, None, "{sql}");
        }
        note(server, (&whole, &cut), name, false);
        let finished = open(&cut.url()).await.migrate().await;
        finished
            .unwrap_or_else(|error| panic!("{name} is refused with {number}: {}", text(&error)));
        assert_eq!(shape(server, &cut), expected, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_survives_the_end_of_the_server() {
    let options = MariaDbOptions { fsync: true, ..Default::default() };
    let mut server = MariaDb::start(&options).expect("the server starts");
    let undisturbed = MariaDbDatabase::new_on(&server);
    open(&server.url(undisturbed.name())).await.migrate().await.expect("it gets its schema");
    let whole = shape(&server, &undisturbed);
    for at in [14, 30, 50] {
        let database = MariaDbDatabase::new_on(&server);
        let proxy = Proxy::start(server.port(), Cut::Before(at)).await;
        let url = format!("mysql://root@127.0.0.1:{}/{}", proxy.port(), database.name());
        let mysql = open(&url).await;
        let migrating = tokio::spawn(async move { mysql.migrate().await });
        while proxy.commands() + 1 < at {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.kill9();
        migrating.await.unwrap().expect_err("the server is gone");
        server.restart().expect("it starts again");
        open(&server.url(database.name())).await.migrate().await.expect("it goes on");
        assert_eq!(shape(&server, &database), whole);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn migrating_twice_or_at_once_is_migrating_once() {
    let database = MariaDbDatabase::new().await;
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let url = database.url();
        all.spawn(async move { MySql::connect(&url).await?.migrate().await });
    }
    for result in all.join_all().await {
        result.expect("all find it migrated");
    }
    open(&database.url()).await.migrate().await.expect("nothing is left to do");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_was_edited_or_is_newer_is_refused() {
    let (server, database) = (MariaDb::shared().await, MariaDbDatabase::new().await);
    let mysql = open(&database.url()).await;
    mysql.migrate().await.expect("it gets its schema");
    let edit = |sql: &str| server.sql(&format!("use {}; {sql}", database.name())).unwrap();
    let refusal = || async { mysql.migrate().await.expect_err("it does not fit").to_string() };
    edit("insert into pgflow_migrations values ('9999_future/01', 'x', 0, 0)");
    assert!(refusal().await.contains("it is newer: migration 9999_future/01"));
    edit("delete from pgflow_migrations where name like '9999%'");
    edit("update pgflow_migrations set checksum = 'x' where name = '0002_runs/01'");
    assert!(refusal().await.contains("0002_runs/01 was applied with other contents"));
    edit("delete from pgflow_migrations where name = '0002_runs/01'");
    assert!(refusal().await.contains("0002_runs/02 was applied where 0002_runs/01 was expected"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_somebody_else_is_left_alone() {
    let (server, database) = (MariaDb::shared().await, MariaDbDatabase::new().await);
    let table = format!("{}.pgflow_steps", database.name());
    server.sql(&format!("create table {table} select 7 as number")).unwrap();
    let mysql = open(&database.url()).await;
    for nth in ["first", "second"] {
        let Err(error) = mysql.migrate().await else { panic!("the {nth} took it for ours") };
        assert!(matches!(error, BackendError::Schema(_)), "{error:?}");
        assert!(error.to_string().contains("pgflow_steps"), "{error}");
    }
    assert_eq!(server.sql(&format!("select number from {table}")).unwrap(), "7\n");
    server.sql(&format!("drop table {table}")).unwrap();
    mysql.migrate().await.expect("nothing is in the way any more");
}

/// A database of such a server has no owner, and whoever may create tables there may be anybody. What they add runs with their
/// rights, and we add nothing that runs with ours.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_others_add_runs_with_our_rights() {
    let (server, database) = (MariaDb::shared().await, MariaDbDatabase::new().await);
    let (name, secret) = (database.name(), MariaDbDatabase::new().await);
    let mysql = open(&database.url()).await;
    mysql.migrate().await.expect("it gets its schema");
    for kind in ["routines where routine", "triggers where trigger", "events where event"] {
        let count = format!("select count(*) from information_schema.{kind}_schema = '{name}'");
        assert_eq!(server.sql(&count).unwrap(), "0\n", "{kind}");
    }
    let secret = format!("{}.salaries", secret.name());
    server
        .sql(&format!(
            "create table {secret} select 7 as number; create table {name}.loot (number int)"
        ))
        .unwrap();
    let stranger = format!("mallory_{}", std::process::id());
    server
        .sql(&format!(
            "create or replace user {stranger}@'%'; grant all on {name}.* to {stranger}@'%';
             create definer = {stranger}@'%' trigger {name}.spy before insert on {name}.pgflow_runs
               for each row insert into {name}.loot select number from {secret}"
        ))
        .unwrap();
    ensure(&mysql, &chain("f", 1)).await;
    let started = mysql.start(NewRun::new("f", 1, RunId::new())).await;
    let error = started.expect_err("what the trigger does is denied to whoever made it");
    assert!(text(&error).contains("denied"), "{}", text(&error));
    assert_eq!(server.sql(&format!("select count(*) from {name}.loot")).unwrap(), "0\n");
    server.sql(&format!("drop trigger {name}.spy; drop user {stranger}@'%'")).unwrap();
}

//! Schemas and objects of other roles: nobody gets the rights of whoever installs.

use std::process::Command;

use pgflow_install_tests::{Directory, execute, refusal};
use pgflow_runtime::postgres::{Format, MigrateError, install_pgmq};
use pgflow_test_support::{Server, TestDb, core};
use sqlx::PgPool;

/// A role of this database's own; roles outlive the database on a server that is not ours.
async fn role(db: &TestDb, name: &str) -> String {
    let role = format!("{}_{name}", db.name());
    execute(
        db,
        &format!("create role {role} login; grant create on database {} to {role}", db.name()),
    )
    .await;
    role
}

fn stranger(error: MigrateError) -> (String, String) {
    match error {
        MigrateError::Stranger { what, way_out } => (what, way_out),
        other => panic!("expected a stranger, got {other:?}"),
    }
}

/// What belongs to somebody else in an otherwise good database, and how the refusal names it.
/// `OTHER` is another role, which may create schemas.
const CASES: &[(&str, &str)] = &[
    ("create schema pgflow authorization OTHER", "schema pgflow belongs to OTHER"),
    ("create schema pgwf authorization OTHER", "schema pgwf belongs to OTHER"),
    (
        "create schema pgwf; grant create on schema pgwf to OTHER",
        "schema pgwf lets OTHER create objects in it",
    ),
    ("alter schema pgmq owner to OTHER", "schema pgmq belongs to OTHER"),
    ("grant create on schema pgmq to OTHER", "schema pgmq lets OTHER create objects in it"),
    (
        "alter function pgmq.format_table_name owner to OTHER",
        "function pgmq.format_table_name(text,text) belongs to OTHER",
    ),
    ("alter table pgmq.meta owner to OTHER", "table pgmq.meta belongs to OTHER"),
    (
        "create schema pgflow; grant create on schema pgflow to OTHER",
        "schema pgflow lets OTHER create objects in it",
    ),
    (
        "create schema pgflow; grant create on schema pgflow to public",
        "schema pgflow lets PUBLIC create objects in it",
    ),
];

#[tokio::test]
async fn migrate_refuses_what_belongs_to_another_role() {
    for (change, says) in CASES {
        let db = TestDb::empty().await;
        install_pgmq(&db.pool).await.unwrap();
        let other = role(&db, "other").await;
        execute(&db, &change.replace("OTHER", &other)).await;
        let (what, way_out) = stranger(refusal(&db).await);
        assert_eq!(what, says.replace("OTHER", &other));
        let pending = core().pending(&db.pool).await.expect_err("refused beforehand as well");
        assert_eq!(stranger(pending).0, what);
        // The way out is one.
        let statement = way_out.split(", or install as ").next().unwrap();
        execute(&db, statement).await;
        core().migrate(&db.pool).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

/// An empty schema is where pgmq would be installed.
#[tokio::test]
async fn pgmq_is_not_installed_into_a_schema_of_another_role() {
    let db = TestDb::empty().await;
    let other = role(&db, "other").await;
    execute(&db, &format!("create schema pgmq authorization {other}")).await;
    let (what, _) = stranger(refusal(&db).await);
    assert_eq!(what, format!("schema pgmq belongs to {other}"));
    assert_eq!(stranger(install_pgmq(&db.pool).await.unwrap_err()).0, what);
}

#[tokio::test]
async fn emitted_files_refuse_it_too() {
    for format in [Format::Psql, Format::Sqlx, Format::Refinery] {
        for (change, says) in CASES {
            let (db, dir) = (TestDb::empty().await, Directory::empty());
            install_pgmq(&db.pool).await.unwrap();
            let other = role(&db, "other").await;
            execute(&db, &change.replace("OTHER", &other)).await;
            let before = db.schema_dump().await;
            let file = core().emit(format, dir.path()).unwrap().remove(0);
            let program = Server::shared().await.program("psql");
            let output = Command::new(program)
                .args(["-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-d", &db.url(), "-f"])
                .arg(file)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success(), "{format:?} {change}");
            assert!(said.contains(&says.replace("OTHER", &other)), "{format:?} {change}: {said}");
            assert!(said.contains("HINT:  alter") || said.contains("HINT:  revoke"), "{said}");
            assert_eq!(db.schema_dump().await, before, "a refusal changes nothing");
        }
    }
}

async fn pool_of(db: &TestDb, role: &str) -> PgPool {
    let options: sqlx::postgres::PgConnectOptions = db.url().parse().unwrap();
    PgPool::connect_with(options.username(role)).await.unwrap()
}

/// All members of the owning role could change what runs with the rights of this one.
#[tokio::test]
async fn a_member_of_the_owning_role_does_not_install_as_itself() {
    let db = TestDb::empty().await;
    let (team, member) = (role(&db, "team").await, role(&db, "member").await);
    execute(&db, &format!("grant {team} to {member}; create schema pgflow authorization {team}"))
        .await;
    let pool = pool_of(&db, &member).await;
    let (what, way_out) = stranger(core().migrate(&pool).await.unwrap_err());
    assert_eq!(what, format!("schema pgflow belongs to {team}"));
    assert!(way_out.ends_with(&format!("or install as {team}")), "{way_out}");
    let options: sqlx::postgres::PgConnectOptions = db.url().parse().unwrap();
    let as_team = options.username(&member).options([("role", team.as_str())]);
    let pool = PgPool::connect_with(as_team).await.unwrap();
    core().migrate(&pool).await.unwrap();
}

/// The owner may act as the installing role anyway.
#[tokio::test]
async fn an_owner_that_has_the_rights_of_the_installing_role_is_no_stranger() {
    let db = TestDb::empty().await;
    let (app, operator) = (role(&db, "app").await, role(&db, "operator").await);
    execute(
        &db,
        &format!(
            "grant {app} to {operator}; create schema pgflow authorization {operator};
             grant create, usage on schema pgflow to {app}"
        ),
    )
    .await;
    core().migrate(&pool_of(&db, &app).await).await.unwrap();
}

/// As servers with extensions have it: a superuser made pgmq and the schemas.
#[tokio::test]
async fn a_superuser_is_no_stranger() {
    let db = TestDb::empty().await;
    let app = role(&db, "app").await;
    install_pgmq(&db.pool).await.unwrap();
    execute(
        &db,
        &format!("create schema pgflow; grant create, usage on schema pgflow, pgmq to {app}; grant all on pgmq.meta to {app};
                  grant select on pgmq.__pgmq_migrations to {app}"),
    )
    .await;
    core().migrate(&pool_of(&db, &app).await).await.unwrap();
}

/// Programs call `migrate` at every start, under whatever role.
#[tokio::test]
async fn what_is_up_to_date_may_belong_to_anybody() {
    let db = TestDb::empty().await;
    let app = role(&db, "app").await;
    core().migrate(&pool_of(&db, &app).await).await.unwrap();
    assert!(core().migrate(&db.pool).await.unwrap().applied.is_empty());
}

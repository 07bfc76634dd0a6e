//! What logins with fewer rights than the owner's may do, as docs/cli.md says, and how it is said that they may not.

use pgflow::Db;
use pgflow_test_support::TestDb;
use pgflow_worker_tests::Outcome;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::doctor::quick_codes;
use crate::place::{json, pgflow, slow, sums};
use crate::trouble::assert_says;

const CLIENT: &[&[&str]] = &[
    &["ls"],
    &["ls", "--jobs"],
    &["ls", "--flows"],
    &["ls", "--schedules"],
    &["ls", "--hooks"],
    &["start", "slow", "1"],
    &["graph", "sums"],
    &["job", "submit", "n"],
    &["job", "ls"],
    &["job", "show", "inv-1"],
    &["job", "cancel", "inv-2"],
    &["dead", "ls"],
    &["queue", "rate", "api", "5/s"],
    &["schedule", "add", "nightly", "slow", "0 3 * * *", "1"],
    &["schedule", "pause", "nightly"],
    &["schedule", "rm", "nightly"],
];
const VIEWER: &[&[&str]] = &[
    &["ls", "--workers"],
    &["ls", "--queues"],
    &["queue", "depth", "n"],
    &["prune", "--older-than", "1d", "--dry-run"],
];
const UPKEEP: &[&[&str]] = &[
    &["queue", "pause", "n"],
    &["queue", "resume", "n"],
    &["job", "redrive", "--all"],
    &["dead", "redrive", "--all"],
    &["dead", "drop", "--all"],
    &["prune", "--older-than", "1d"],
];

/// The URL of a login of its own that has been granted this.
async fn login(database: &TestDb, what: &str, grant: &str) -> Outcome<String> {
    let role = format!("{what}_of_{}", database.name());
    let sql = format!("create role {role} login; {grant} to {role}");
    let mut owner = PgConnection::connect(&database.url()).await?;
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut owner).await?;
    Ok(database.url().replace("user=postgres", &format!("user={role}")))
}

async fn kept() -> Outcome<(TestDb, Db)> {
    let database = TestDb::new().await;
    let db = Db::connect(&database.url()).await?;
    db.register(sums::Flow).await?;
    db.register(slow::Flow).await?;
    for name in ["inv-1", "inv-2"] {
        db.submit_raw("invoice", serde_json::Value::Null).id(name).await?;
    }
    Ok((database, db))
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_are_enough_for_what_the_manual_says() -> Outcome {
    let (database, _db) = kept().await?;
    let client = login(&database, "client", "grant pgflow_client").await?;
    let viewer = login(&database, "viewer", "grant pgflow_viewer").await?;
    let upkeep = login(&database, "upkeep", "grant pgflow_upkeep").await?;
    for (url, commands) in [(&client, CLIENT), (&viewer, VIEWER), (&upkeep, UPKEEP)] {
        for command in commands {
            assert_says(&pgflow(url, command).await, 0, "", &format!("{command:?} {url}"));
        }
    }
    assert!(!quick_codes(&viewer).await.contains(&"missing-grant".to_owned()));
    // Nothing is asked of the database for those that find no jobs.
    for command in VIEWER.iter().chain(&UPKEEP[..2]) {
        let help = "help: `pgflow doctor` says what this login may not see";
        assert_says(&pgflow(&client, command).await, 3, help, &format!("{command:?}"));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_see_workers_is_told_the_rest() -> Outcome {
    let (database, db) = kept().await?;
    let client = login(&database, "client", "grant pgflow_client").await?;
    let run = db.start(sums::Flow, &vec![1]).await?.id().to_string();
    for (what, sentence) in [(&*run, "1 task of step `first` ready for"), ("inv-1", "it is ready;")]
    {
        let hidden = "this login may not see workers";
        for command in ["why", "show"] {
            let said = pgflow(&client, &[command, what]).await;
            assert_says(&said, 0, hidden, what);
            assert_says(&said, 0, sentence, what);
        }
        let why = json(&client, &["why", what]).await;
        assert_eq!(why["reasons"][0]["code"], "hidden-workers", "{why}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_login_may_not_see_is_a_finding_with_its_fix() -> Outcome {
    let (database, _db) = kept().await?;
    for (what, grant, hidden) in [
        ("client", "grant pgflow_client", &["workers", "queues of flows", "jobs"][..]),
        ("usage", "grant usage on schema pgflow", &["workers", "schedules", "waits"]),
        ("nobody", "grant temporary on database postgres", &["workers", "schedules", "waits"]),
    ] {
        let url = login(&database, what, grant).await?;
        let report = pgflow(&url, &["doctor"]).await;
        for part in hidden {
            let finding =
                format!("missing-grant: this login may not see {part}: permission denied");
            assert_says(&report, 1, &finding, what);
        }
        assert_says(&report, 1, "grant pgflow_viewer to LOGIN", what);
        assert_says(&report, 1, "check: this login may not look", what);
    }
    Ok(())
}

//! Servers that cannot be used, and what is said about them.

use std::time::Duration;

use pgflow_machine::{Settled, WorkerId};
use pgflow_mysql_tests::{Cut, Proxy, chain, claim, complete, ensure, start, text};
use pgflow_runtime::backend::{Backend, BackendError, Runs, Upkeep, Work};
use pgflow_runtime::mysql::{Durability, MySql, MySqlOptions};
use pgflow_test_support::{MariaDb, MariaDbDatabase, MariaDbOptions};
use serde_json::json;

async fn refusal(url: &str) -> BackendError {
    MySql::connect(url).await.expect_err("it cannot be used")
}

fn with(settings: &[(&str, &str)]) -> MariaDb {
    let extra = settings.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let options = MariaDbOptions { extra: extra.collect(), ..Default::default() };
    MariaDb::start(&options).expect("the server starts")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_or_database_is_refused_and_not_shown() {
    let server = MariaDb::shared().await;
    server.sql("create user if not exists ann@'%' identified by 'hunter2'").unwrap();
    let place = format!("127.0.0.1:{}", server.port());
    let error = refusal(&format!("mysql://ann:secret@{place}/mysql")).await;
    assert!(matches!(error, BackendError::Refused(_)), "{error:?}");
    assert!(text(&error).contains("refused user or password"), "{}", text(&error));
    assert!(!format!("{error:?} {}", text(&error)).contains("secret"), "{error:?}");
    let error = refusal(&format!("mysql://root@{place}/no_such_thing")).await;
    assert!(matches!(error, BackendError::Refused(_)), "{error:?}");
    assert!(text(&error).contains("CREATE DATABASE"), "{}", text(&error));
}

#[tokio::test]
async fn a_server_that_is_not_there_may_come() {
    let error = refusal("mysql://root@127.0.0.1:1/app").await;
    assert!(error.is_temporary(), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_server_is_told_which_one_is_needed() {
    let server = with(&[("version", "10.5.23-MariaDB")]);
    let error = refusal(&server.url("mysql")).await;
    assert!(matches!(error, BackendError::Refused(_)), "{error:?}");
    let text = text(&error);
    assert!(text.contains("MariaDB 10.5.23") && text.contains("MariaDB 10.6"), "{text}");
}

/// The server of all tests is as forgetful as it is fast.
#[tokio::test(flavor = "multi_thread")]
async fn a_forgetful_server_is_refused_where_that_matters() {
    let database = MariaDbDatabase::new().await;
    MySql::connect(&database.url()).await.expect("with a warning");
    let error = refusal(&format!("{}?durability=strict", database.url())).await;
    assert!(text(&error).contains("innodb_flush_log_at_trx_commit = 0"), "{}", text(&error));
    let options: MySqlOptions = database.url().parse().unwrap();
    let strict = MySql::open(&options.durability(Durability::Strict)).await;
    assert!(matches!(strict, Err(BackendError::Refused(_))), "{strict:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_cannot_work_are_refused() {
    let server = with(&[("log-bin", "log"), ("binlog-format", "STATEMENT")]);
    let error = refusal(&server.url("mysql")).await;
    assert!(text(&error).contains("binlog_format"), "{}", text(&error));
    drop(server);
    let server = with(&[("max-allowed-packet", "65536")]);
    let error = refusal(&server.url("mysql")).await;
    assert!(text(&error).contains("max_allowed_packet"), "{}", text(&error));
}

/// Sessions are set up by us, whatever the server would do.
#[tokio::test(flavor = "multi_thread")]
async fn the_server_s_own_choices_do_not_matter() {
    let server = with(&[
        ("transaction-isolation", "SERIALIZABLE"),
        ("sql-mode", "ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES"),
        ("default-time-zone", "+05:45"),
        ("character-set-server", "latin1"),
        ("init-connect", "set autocommit = 0"),
        ("max-allowed-packet", "4194304"),
    ]);
    let database = MariaDbDatabase::new_on(&server);
    let mysql = MySql::connect(&database.url()).await.expect("it can be used");
    mysql.migrate().await.expect("it gets its schema");
    let limits = mysql.limits().await.expect("it has limits");
    assert_eq!(limits.max_bytes, 4_194_304 / 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_without_rights_is_told_which() {
    let (server, database) = (MariaDb::shared().await, MariaDbDatabase::new().await);
    let name = database.name();
    server.sql(&format!("create user {name}@'%'; grant select on {name}.* to {name}@'%'")).unwrap();
    let url = format!("mysql://{name}@127.0.0.1:{}/{name}", server.port());
    let mysql = MySql::connect(&url).await.expect("it may connect");
    let error = mysql.migrate().await.expect_err("it may not create tables");
    assert!(matches!(error, BackendError::Refused(_)), "{error:?}");
    let text = text(&error);
    assert!(text.contains("CREATE VIEW") && text.contains("denied"), "{text}");
    MySql::connect(&database.url()).await.unwrap().migrate().await.expect("with rights it goes on");
}

/// The rights that the documentation says a user needs.
fn documented_rights() -> [&'static str; 2] {
    let docs = include_str!("../../../../docs/mysql.md");
    let (_, needs) = docs.split_once("What the user needs: `").expect("it says so");
    let (works, more) = needs.split_once('`').expect("rights");
    let (_, more) = more.split_once("to migrate also `").expect("more rights");
    [works, more.split_once('`').expect("rights").0]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rights_that_are_documented_are_enough() {
    let (server, database) = (MariaDb::shared().await, MariaDbDatabase::new().await);
    let name = database.name();
    let [works, more] = documented_rights();
    let users = [("installer", format!("{works}, {more}")), ("worker", works.to_owned())];
    let url = |user| format!("mysql://{name}_{user}@127.0.0.1:{}/{name}", server.port());
    for (user, rights) in &users {
        let user = format!("{name}_{user}@'%'");
        server.sql(&format!("create user {user}; grant {rights} on {name}.* to {user}")).unwrap();
    }
    let installer = MySql::connect(&url("installer")).await.expect("it may connect");
    installer.migrate().await.unwrap_or_else(|error| panic!("{}", text(&error)));
    let worker = MySql::connect(&url("worker")).await.expect("it may connect");
    worker.migrate().await.expect("there is nothing to do");
    ensure(&worker, &chain("orders", 1)).await;
    start(&worker, "orders", json!(1)).await;
    let lease = claim(&worker, "orders", 1, WorkerId::new()).await.tasks.remove(0).lease;
    assert_eq!(complete(&worker, &[lease], &json!(1)).await, [Settled::Applied]);
    assert!(
        worker
            .checkup()
            .await
            .expect("a look")
            .findings
            .iter()
            .all(|found| found.code == "not-durable")
    );
    assert_eq!(Upkeep::check(&worker).await.expect("a check"), [""; 0]);
    assert_eq!(worker.prune(Duration::ZERO, 10).await.expect("it may"), 1);
    for (user, _) in users {
        server.sql(&format!("drop user {name}_{user}@'%'")).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_our_tables_says_what_to_do() {
    let database = MariaDbDatabase::new().await;
    let mysql = MySql::connect(&database.url()).await.expect("it can be used");
    let error = mysql.sweep().await.expect_err("there are no tables");
    assert!(matches!(error, BackendError::Schema(_)), "{error:?}");
    assert!(error.to_string().contains("call `migrate` first"), "{error}");
}

/// As behind a proxy with an opinion of its own: what we set is not what the session has.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_not_as_it_was_set_is_refused() {
    let (server, database) = (MariaDb::shared().await, MariaDbDatabase::new().await);
    for (set, other, setting, found) in [
        ("read committed", "serializable  ", "transaction_isolation", "SERIALIZABLE"),
        ("= '+00:00'", "= '+01:00'", "time_zone", "+01:00"),
    ] {
        let proxy = Proxy::start(server.port(), Cut::Reword(set, other)).await;
        let url = format!("mysql://root@127.0.0.1:{}/{}", proxy.port(), database.name());
        let refused = text(&refusal(&url).await);
        assert!(refused.contains(setting) && refused.contains(found), "{refused}");
    }
    let proxy = Proxy::start(server.port(), Cut::Never).await;
    let url = format!("mysql://root@127.0.0.1:{}/{}", proxy.port(), database.name());
    MySql::connect(&url).await.expect("the proxy is not in the way");
}

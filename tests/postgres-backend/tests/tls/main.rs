//! Encrypted connections to a real server, with certificates made for the occasion.
//!
//! A build of its own: `cargo test -p pgflow-postgres-backend-tests --features tls --test tls`.

mod secured;

use pgflow::prelude::*;
use pgflow_postgres_backend_tests::{Bench, Wire, cause, comes};
use pgflow_runtime::backend::{BackendError, Wake};
use pgflow_runtime::postgres::{Postgres, PostgresOptions};
use sqlx::PgPool;

use secured::{PASSWORD, Secured, foreign_root};

#[flow(input = Vec<u32>)]
mod double {
    use super::*;

    #[step(map)]
    pub(crate) async fn each(item: u32) -> Result<u32> {
        Ok(item * 2)
    }

    #[step(depends_on = [each])]
    pub(crate) async fn count(each: Vec<u32>, tx: &mut Tx) -> Result<bool> {
        let connection = tx.postgres().ok_or("not Postgres")?;
        let one: i32 = sqlx::query_scalar("select $1").bind(1).fetch_one(connection).await?;
        Ok(one == 1 && each.len() == 3)
    }
}

/// Connections of everybody but this one: how many, and how many of them are encrypted.
async fn connections(pool: &PgPool) -> (i64, i64) {
    sqlx::query_as(
        "select count(*), count(*) filter (where ssl.ssl) from pg_stat_ssl ssl join pg_stat_activity using (pid)
          where usename = 'app'",
    )
    .fetch_one(pool)
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_and_its_hints_go_over_encrypted_connections() {
    let secured = Secured::start();
    let database = secured.database().await;
    let url = secured.url(&database, "localhost", "sslmode=require");
    let db = Db::connect(&url).await.unwrap();
    db.register(double::Flow).await.unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let worker = Worker::new(&db).flow(double::Flow);
    let worker = tokio::spawn(worker.run(async { drop(stopped.await) }));
    let mut wakes = db.backend().wakes();
    assert!(comes(&mut wakes, &Wake::Gap).await, "nobody listens");
    let elsewhere = Db::connect(&url).await.unwrap();
    let run = elsewhere.start(double::Flow, &vec![1, 2, 3]).await.unwrap();
    assert!(comes(&mut wakes, &Wake::queue("double")).await);
    assert!(run.output().await.unwrap().count);
    let (all, encrypted) = connections(&database.pool).await;
    // Two for the worker, one for its steps, one for hints, and the same without steps elsewhere.
    assert!(all >= 5 && all == encrypted, "{encrypted} of {all}");
    drop(stop);
    worker.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_is_who_it_says_or_nobody_talks_to_it() {
    let secured = Secured::start();
    let database = secured.database().await;
    let (ours, foreign) = (secured.root(&database), foreign_root(&database));
    let url = |host, mode, root: &str| {
        secured.url(&database, host, &format!("sslmode={mode}&sslrootcert={root}"))
    };
    for (host, mode) in
        [("localhost", "verify-full"), ("localhost", "verify-ca"), ("127.0.0.1", "verify-ca")]
    {
        let postgres = Postgres::connect(&url(host, mode, &ours)).await;
        assert!(postgres.is_ok(), "{mode} for {host}: {postgres:?}");
    }
    let wrong = [
        // The certificate is for localhost only.
        (url("127.0.0.1", "verify-full", &ours), "not valid for name"),
        (url("localhost", "verify-full", &foreign), "invalid peer certificate"),
        (url("localhost", "verify-ca", &foreign), "invalid peer certificate"),
        (url("localhost", "verify-full", "/nowhere/root.crt"), "No such file"),
    ];
    for (url, reason) in wrong {
        let error = Postgres::connect(&url).await.unwrap_err();
        let text = format!("{error}: {}", cause(&error));
        assert!(text.contains(reason), "{text}");
        assert!(!format!("{text} {error:?}").contains(PASSWORD), "{error:?}");
        assert!(matches!(error, BackendError::Refused(_)), "trying again does not help: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_encryption_is_refused_and_one_that_insists_is_not() {
    let secured = Secured::start();
    let database = secured.database().await;
    let plain = Postgres::connect(&secured.url(&database, "localhost", "sslmode=disable")).await;
    assert!(matches!(plain, Err(BackendError::Refused(_))), "the server takes no other: {plain:?}");
    let url = secured.url(&database, "localhost", "sslmode=prefer");
    let options = PostgresOptions { listen_url: Some(url.clone()), ..PostgresOptions::new(url) };
    Postgres::open(options).await.unwrap();
    let bench = Bench::new().await;
    let wire = Wire::to(&bench.db).await;
    Postgres::connect(&format!("{}?sslmode=prefer", wire.url())).await.unwrap();
    let error = Postgres::connect(&format!("{}?sslmode=require", wire.url())).await.unwrap_err();
    assert!(cause(&error).contains("does not support TLS"), "{error:?}");
}

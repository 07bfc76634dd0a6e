//! What a worker does not start with.

use pgflow::prelude::*;
use pgflow::{ConnectError, WorkerError};
use pgflow_worker_tests::{Fresh, Outcome, everywhere};

#[flow]
mod ping {
    #[step]
    pub(crate) async fn pong() -> pgflow::Result<u8> {
        Ok(1)
    }
}

mod changed {
    #[pgflow::flow(slug = "ping", version = 1)]
    pub(crate) mod ping {
        #[step]
        pub(crate) async fn pong() -> pgflow::Result<u8> {
            Ok(1)
        }

        #[step(depends_on = [pong])]
        pub(crate) async fn pang(pong: u8) -> pgflow::Result<u8> {
            Ok(pong)
        }
    }
}

#[flow]
mod banking {
    use super::*;

    #[step]
    pub(crate) async fn book(tx: &mut Tx) -> Result<bool> {
        Ok(tx.sqlite().is_some())
    }
}

everywhere!(a_flow_that_the_database_does_not_have);

async fn a_flow_that_the_database_does_not_have(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    let unknown = Worker::new(db).flow(ping::Flow).run(async {}).await;
    // The shutdown is ready from the start, so it may win; then ask again without one.
    let unknown = match unknown {
        Ok(_) => Worker::new(db).flow(ping::Flow).run(std::future::pending()).await,
        error => error,
    };
    let unknown = unknown.expect_err("nobody registered it").to_string();
    assert!(unknown.contains("does not know version 1 of flow `ping`"), "{unknown}");
    db.register(ping::Flow).await?;
    db.register(ping::Flow).await?;
    let other = db.register(changed::ping::Flow).await.expect_err("another graph").to_string();
    assert!(other.contains("pang"), "{other}");
    let other = Worker::new(db).flow(changed::ping::Flow).run(std::future::pending()).await;
    let other = other.expect_err("another graph");
    assert!(matches!(other, WorkerError::OtherShape { slug: "ping", .. }), "{other}");
    assert!(other.to_string().contains("pang"), "{other}");
    Ok(())
}

#[tokio::test]
async fn a_step_with_a_transaction_in_memory() -> Outcome {
    let fresh = Fresh::memory().await?;
    fresh.db.register(banking::Flow).await?;
    let worker = Worker::new(&fresh.db).flow(banking::Flow).run(std::future::pending()).await;
    let error = worker.expect_err("memory has no transactions").to_string();
    assert!(error.starts_with("step `book` of flow `banking` takes `tx: &mut Tx`"), "{error}");
    let error = pgflow::testing::run(banking::Flow, ()).await.expect_err("neither has a test");
    assert!(error.to_string().starts_with("step `book` takes `tx: &mut Tx`"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_worker_with_nothing_to_do() -> Outcome {
    let db = Db::connect("memory:").await?;
    let none = Worker::new(&db).run(std::future::pending()).await;
    assert!(matches!(none, Err(WorkerError::NoFlows)));
    let zero = Worker::new(&db).flow(ping::Flow).concurrency(0).run(std::future::pending()).await;
    assert!(matches!(zero, Err(WorkerError::Zero { .. })));
    let limit = Worker::new(&db).flow(ping::Flow).limit::<banking::book>(1);
    let limit = limit.run(std::future::pending()).await;
    assert!(matches!(limit, Err(WorkerError::UnknownLimit { .. })));
    Ok(())
}

#[tokio::test]
async fn a_url_that_is_not_one_makes_no_file() -> Outcome {
    for url in ["", "quickstart_that_is_not.db", "postgre://localhost/x", "mysq://localhost/x"] {
        let error = Db::connect(url).await.expect_err(url);
        assert!(matches!(error, ConnectError::Url(_)), "{error}");
    }
    assert!(!std::path::Path::new("quickstart_that_is_not.db").exists());
    Ok(())
}

#[tokio::test]
async fn a_password_is_never_printed() -> Outcome {
    let url = "postgres://ann:secret@127.0.0.1:1/shop?connect_timeout=1";
    let error = Db::connect(url).await.err();
    let text = format!("{error:?} {}", error.as_ref().map(ToString::to_string).unwrap_or_default());
    assert!(!text.contains("secret"), "{text}");
    Ok(())
}

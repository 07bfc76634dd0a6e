//! What may be served where.

use pgflow::Db;
use pgflow_web::{Access, Options, ServeError, Server};
use pgflow_web_tests::{Dashboard, Outcome};
use tokio::io::AsyncReadExt;

#[tokio::test(flavor = "multi_thread")]
async fn actions_are_not_for_anybody() -> Outcome {
    let db = Db::connect("memory:").await?;
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = Server::bind(&db, address.parse()?, Options::new().actions(true)).await;
        let error = refused.expect_err("anybody could cancel runs");
        assert!(matches!(error, ServeError::ActionsForAnybody { .. }), "{error}");
        assert!(error.to_string().contains("help: say who may with `Options::auth`"), "{error}");
    }
    let reading = Server::bind(&db, "0.0.0.0:0".parse()?, Options::new()).await?;
    drop(reading);
    let known = Options::new().actions(true).auth(|_| Access::Read);
    drop(Server::bind(&db, "0.0.0.0:0".parse()?, known).await?);
    drop(Server::bind(&db, "127.0.0.1:0".parse()?, Options::new().actions(true)).await?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_is_taken_is_named() -> Outcome {
    let db = Db::connect("memory:").await?;
    let first = Server::bind(&db, "127.0.0.1:0".parse()?, Options::new()).await?;
    let second = Server::bind(&db, first.address(), Options::new()).await;
    let error = second.expect_err("it is taken").to_string();
    assert_eq!(error, format!("cannot listen on {}", first.address()));
    Ok(())
}

/// A page elsewhere may have its name lead to this machine, and would read everything.
#[tokio::test(flavor = "multi_thread")]
async fn loopback_answers_to_its_own_names_only() -> Outcome {
    let db = Db::connect("memory:").await?;
    let dashboard = Dashboard::start(&db, Options::new().host("flows.example")).await?;
    for (host, status) in [
        ("localhost:1", 200),
        ("127.0.0.1", 200),
        ("flows.example", 200),
        ("evil.example", 403),
        ("", 403),
    ] {
        let answer = dashboard.get("/runs", &[("host", host)]).await?;
        assert_eq!(answer.status, status, "{host}");
    }
    dashboard.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn it_stops_while_somebody_listens() -> Outcome {
    let db = Db::connect("memory:").await?;
    let dashboard = Dashboard::start(&db, Options::new()).await?;
    let mut stream = dashboard.send("GET /live/overview", &[], "").await?;
    let mut head = [0; 15];
    stream.read_exact(&mut head).await?;
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    dashboard.stop().await?;
    // The stream has ended, and not by an error.
    stream.read_to_end(&mut Vec::new()).await?;
    Ok(())
}

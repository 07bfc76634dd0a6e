//! Who may see the dashboard.

use pgflow::Db;
use pgflow_web::{Options, basic};
use pgflow_web_tests::{Dashboard, Outcome};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_shown_without_the_password() -> Outcome {
    let db = Db::connect("memory:").await?;
    let dashboard = Dashboard::start(&db, Options::new().auth(basic("ann", "secret"))).await?;
    for path in [
        "/",
        "/runs",
        "/flows",
        "/workers",
        "/live/overview",
        "/metrics",
        "/assets/live.js",
        "/nowhere",
    ] {
        let answer = dashboard.get(path, &[]).await?;
        assert_eq!(answer.status, 401, "{path}");
        assert!(answer.header("www-authenticate").is_some_and(|ask| ask.starts_with("Basic ")));
        assert!(answer.header("content-security-policy").is_some(), "{path}");
        assert!(!answer.body.contains("memory:"), "{path} says which database it is");
    }
    let wrong = [("authorization", "Basic YW5uOndyb25n")];
    assert_eq!(dashboard.get("/runs", &wrong).await?.status, 401);
    let right = [("authorization", "Basic YW5uOnNlY3JldA==")];
    assert_eq!(dashboard.get("/runs", &right).await?.status, 200);
    dashboard.stop().await
}

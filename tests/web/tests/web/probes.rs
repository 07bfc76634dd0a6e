//! For whoever keeps the program alive.

use pgflow::Db;
use pgflow_web::{Access, Options};
use pgflow_web_tests::{Dashboard, Outcome};
use pgflow_worker_tests::{Flaky, Fresh, Mood};

#[tokio::test(flavor = "multi_thread")]
async fn probes_need_no_password_and_tell_life_from_readiness() -> Outcome {
    let Fresh { db, .. } = &Fresh::sqlite().await?;
    let dashboard = Dashboard::start(db, Options::new().auth(|_| Access::Deny)).await?;
    for (path, text) in [("/healthz", "ok\n"), ("/readyz", "ready\n")] {
        let answer = dashboard.get(path, &[]).await?;
        assert_eq!((answer.status, answer.body.as_str()), (200, text));
    }
    db.close().await?;
    let answer = dashboard.get("/readyz", &[]).await?;
    assert_eq!((answer.status, answer.body.as_str()), (503, "the database does not answer\n"));
    assert_eq!(dashboard.get("/healthz", &[]).await?.status, 200, "it lives all the same");
    dashboard.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_down_is_a_page_of_its_own() -> Outcome {
    let backend = Flaky::default();
    let db = Db::new(backend.clone());
    let dashboard = Dashboard::start(&db, Options::new()).await?;
    backend.set("list", Mood::Down, u32::MAX);
    let answer = dashboard.get("/runs", &[]).await?;
    assert_eq!(answer.status, 503);
    assert!(answer.body.contains("the database cannot be reached"), "{}", answer.body);
    backend.set("list", Mood::Refusing, u32::MAX);
    assert_eq!(dashboard.get("/runs", &[]).await?.status, 500);
    dashboard.stop().await
}

//! Inside an application, below a path of its own.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use pgflow_web::Options;
use pgflow_web_tests::{Order, Outcome, orders};
use pgflow_worker_tests::Fresh;
use tower::ServiceExt;

use crate::http::navigation;

async fn page(app: &Router, path: &str) -> Outcome<(StatusCode, String)> {
    let request = Request::get(path).body(Body::empty())?;
    let response = app.clone().oneshot(request).await?;
    let status = response.status();
    let body = to_bytes(response.into_body(), 1 << 20).await?;
    Ok((status, String::from_utf8(body.to_vec())?))
}

/// What a page links to, within the site.
fn links(page: &str) -> Vec<String> {
    let parts = page.split(" href=\"").chain(page.split(" src=\"")).chain(page.split(" action=\""));
    let links =
        parts.filter_map(|part| part.split('"').next()).filter(|link| link.starts_with('/'));
    links.map(|link| link.replace("&amp;", "&")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_link_stays_below_the_path_it_is_mounted_at() -> Outcome {
    let fresh = Fresh::memory().await?;
    fresh.db.register(orders::Flow).await?;
    let run = fresh.db.start(orders::Flow, &Order::of(1)).await?;
    let flows = pgflow_web::router(&fresh.db, Options::new().actions(true));
    let app = Router::new().nest("/admin/flows", flows);
    let run = format!("/admin/flows/runs/{}", run.id());
    fresh.db.submit_raw("n", serde_json::json!(1)).id("seven").await?;
    let (_, home) = page(&app, "/admin/flows").await?;
    let mut paths = navigation(&home);
    assert_eq!(paths.len(), 9, "{paths:?}");
    paths.extend([run, "/admin/flows/job?id=seven".to_owned()]);
    for path in &paths {
        let (status, text) = page(&app, path).await?;
        assert_eq!(status, StatusCode::OK, "{path}");
        let links = links(&text);
        assert!(links.len() > 5, "{path}");
        for link in links {
            let (status, _) = page(&app, &link).await?;
            let actions = ["retry", "cancel", "redrive", "clear", "pause", "resume"];
            let is_action = actions.iter().any(|action| link.ends_with(&format!("/{action}")));
            let expected = if is_action { StatusCode::METHOD_NOT_ALLOWED } else { StatusCode::OK };
            assert_eq!(status, expected, "{link} on {path}");
        }
    }
    Ok(())
}

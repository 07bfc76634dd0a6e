//! For whoever keeps the program alive.

use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use tokio::time::timeout;

use crate::app::App;

/// An answer that takes longer is none.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) fn routes() -> Router<App> {
    Router::new()
        // It answers, so it is alive.
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
}

/// Whether the database answers. Why not is in the log: anybody may ask.
async fn ready(State(app): State<App>) -> (StatusCode, &'static str) {
    let asked = tokio::spawn(async move { app.db.backend().now().await });
    match timeout(PATIENCE, asked).await {
        Ok(Ok(Ok(_))) => (StatusCode::OK, "ready\n"),
        Ok(Ok(Err(error))) => {
            tracing::warn!(%error, "the database does not answer");
            (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n")
        }
        Ok(Err(_)) | Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n"),
    }
}

//! A web application with a flow that says what it writes word by word, and one that waits until somebody approves.
//!
//! `cargo run -p pgflow-example-web`, and then:
//!
//! ```sh
//! curl -X POST localhost:3000/answers -d 'Why is the sky blue?'    # → {"run":"019a…"}
//! curl -N localhost:3000/api/runs/019a…/steps/write/stream         # its words, as they are written
//! curl -N -H 'Last-Event-ID: 7' localhost:3000/api/runs/019a…/steps/write/stream    # those after the eighth
//! curl -N localhost:3000/api/runs/019a…/events                     # all that happens to the run
//!
//! curl -X POST localhost:3000/articles -d 'Streams'                # → {"run":"019a…"}
//! curl localhost:3000/letters                                      # → [{"approve_at":"/api/hooks/hk_…","text":"Streams"}]
//! curl -X POST localhost:3000/api/hooks/hk_… -H 'Content-Type: application/json' -H 'Idempotency-Key: 1' \
//!   -d '{"by":"Ann","is_approved":true}'                           # → {"outcome":"delivered"}
//! ```
//!
//! The dashboard is on <http://localhost:3000/flows>.

#![forbid(unsafe_code)]

mod articles;
mod questions;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::map_request;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use pgflow::{ClientError, Db, Worker};
use pgflow_web::Options;
use serde_json::{Value, json};

pub use articles::{Approval, Draft, Letter, Mailbox, article};
pub use questions::{Question, Token, answer};

/// Makes the flows known.
pub async fn prepare(db: &Db) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    db.migrate().await?;
    db.register(answer::Flow).await?;
    db.register(article::Flow).await?;
    Ok(())
}

/// Works on the flows.
pub fn worker(db: &Db, mailbox: &Mailbox) -> Worker {
    Worker::new(db).flow(answer::Flow).flow(article::Flow).state(mailbox.clone())
}

/// The application: routes of its own, those of pgflow, and the dashboard.
pub fn app(db: &Db, mailbox: Mailbox, options: &Options) -> Router {
    let letters = async move || json(StatusCode::OK, &json!(mailbox.letters()));
    Router::new()
        .route("/answers", post(ask))
        .route("/articles", post(submit))
        .route("/letters", get(letters))
        .with_state(db.clone())
        .nest("/api", pgflow_web::api(db, options.clone()))
        .nest("/flows", pgflow_web::router(db, options.clone()))
        // Below this, layers that log addresses of requests do not see who may approve.
        .layer(map_request(pgflow_web::hide_tokens))
}

/// Starts a run, and says which: its words are on their way.
async fn ask(State(db): State<Db>, text: String) -> Result<Response, Failed> {
    let run = db.start(answer::Flow, &Question { text }).await?;
    Ok(json(StatusCode::ACCEPTED, &json!({ "run": run.id() })))
}

/// Starts a run that somebody has to approve.
async fn submit(State(db): State<Db>, text: String) -> Result<Response, Failed> {
    let run = db.start(article::Flow, &Draft { text }).await?;
    Ok(json(StatusCode::ACCEPTED, &json!({ "run": run.id() })))
}

fn json(status: StatusCode, json: &Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], format!("{json}\n")).into_response()
}

/// What cannot be done, as an answer.
struct Failed(ClientError);

impl From<ClientError> for Failed {
    fn from(error: ClientError) -> Self {
        Self(error)
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        json(StatusCode::SERVICE_UNAVAILABLE, &json!({ "error": self.0.to_string() }))
    }
}

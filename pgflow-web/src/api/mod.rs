//! What programs use: events of runs and streams of steps as server-sent events, and signals for steps that wait.
//!
//! | file | concern |
//! |---|---|
//! | `guard` | who may, and how much of a request is read |
//! | `error` | why there is no answer, as JSON |
//! | `sse` | what all streams of events have in common |
//! | `events` | the log of a run |
//! | `feed` | one reader of a log, for all who are at its end |
//! | `line` | an event of a log as JSON |
//! | `stream` | what a step says |
//! | `hooks` | signals |
//! | `hidden` | what no log may see |

mod error;
mod events;
mod feed;
mod guard;
mod hidden;
mod hooks;
mod line;
mod sse;
mod stream;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use pgflow_runtime::db::Db;

pub(crate) use feed::Feeds;
pub use hidden::hide_tokens;

use crate::app::App;
use crate::options::Options;
use error::ApiError;

/// What programs use, without the dashboard: to mount in an application, `Router::new().nest("/api", api)`.
///
/// | route | |
/// |---|---|
/// | `GET /runs/{id}/events` | the log of a run as server-sent events, until the run has ended |
/// | `GET /runs/{id}/steps/{step}/stream` | what a step says, as server-sent events, until it has said everything |
/// | `POST /hooks/{token}` | a signal for a step that waits: a body of JSON, with an `Idempotency-Key` |
///
/// Of the options, [`auth`](Options::auth), [`open_hooks`](Options::open_hooks), [`named_hooks`](Options::named_hooks),
/// [`redact`](Options::redact), [`keep_alive`](Options::keep_alive) and [`until`](Options::until) count; to signal is to [`Act`](crate::Access::Act).
/// The [dashboard](crate::router) has the first two routes as well, and the third with [`Options::hooks`].
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let db = pgflow::Db::connect("memory:").await?;
/// let api = pgflow_web::api(&db, pgflow_web::Options::new());
/// let app: axum::Router = axum::Router::new().nest("/api", api);
/// # drop(app);
/// # Ok(())
/// # }
/// ```
pub fn api(db: &Db, options: Options) -> Router {
    let app = App::new(db, options);
    routes(&app)
        .merge(hooks(&app))
        .fallback(async || ApiError::NotFound("there is no such route".into()))
        .with_state(app)
}

/// Those that are read, behind their guard.
pub(crate) fn routes(app: &App) -> Router<App> {
    Router::new()
        .route("/runs/{id}/events", get(events::events))
        .route("/runs/{id}/steps/{step}/stream", get(stream::stream))
        .method_not_allowed_fallback(other_method)
        .layer(from_fn_with_state(app.clone(), guard::guard))
}

/// Where signals go, behind its guard.
pub(crate) fn hooks(app: &App) -> Router<App> {
    Router::new()
        .route("/hooks/{token}", post(hooks::signal))
        .method_not_allowed_fallback(other_method)
        .layer(from_fn_with_state(app.clone(), guard::hook_guard))
}

async fn other_method() -> ApiError {
    ApiError::Method
}

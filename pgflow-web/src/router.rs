//! Where everything is.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use pgflow_runtime::db::Db;

use crate::app::App;
use crate::error::PageError;
use crate::options::Options;
use crate::{
    actions, api, assets, guard, job_actions, live, metrics, named_actions, pages, probes,
    signal_action,
};

/// No form of ours has more.
const LARGEST_FORM: usize = 64 << 10;

/// The dashboard, to mount in an application: `Router::new().nest("/flows", router)`.
///
/// What it may show and do is what [`Options`] say; who may see it is up to them as well, or to a layer around it.
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let db = pgflow::Db::connect("memory:").await?;
/// let flows = pgflow_web::router(&db, pgflow_web::Options::new());
/// let app: axum::Router = axum::Router::new().nest("/flows", flows);
/// # drop(app);
/// # Ok(())
/// # }
/// ```
pub fn router(db: &Db, options: Options) -> Router {
    let app = App::new(db, options);
    let guarded = pages::routes()
        .merge(live::routes())
        .merge(actions::routes())
        .merge(job_actions::routes())
        .merge(signal_action::routes())
        .merge(named_actions::routes())
        .merge(assets::routes())
        .route("/metrics", get(metrics::metrics))
        .fallback(async || PageError::NotFound("there is no such page".into()))
        .layer(DefaultBodyLimit::max(LARGEST_FORM))
        .layer(from_fn_with_state(app.clone(), guard::guard));
    // Whoever keeps programs alive has no password.
    let mut all = guarded.merge(probes::routes()).merge(api::routes(&app));
    if app.options.hooks {
        all = all.merge(api::hooks(&app));
    }
    all.with_state(app)
}

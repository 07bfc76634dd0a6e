//! Pages: a file each, and a line in [`PAGES`].

mod dead;
mod detail;
mod flow;
mod flows;
mod job;
mod jobs;
mod overview;
mod queues;
mod run;
mod runs;
mod said;
mod schedules;
mod timeline;
mod waiting;
mod waits;
mod workers;

pub(crate) use job::{JobView, href as job_href, id_of as job_id, region as job_region};
pub(crate) use overview::region as overview_region;
pub(crate) use run::{id_of as run_id, region as run_region};

use axum::Router;

use crate::app::App;

/// A page of the navigation, and what belongs to it.
pub(crate) struct Page {
    /// Where it is.
    pub(crate) path: &'static str,
    /// Its name there.
    pub(crate) title: &'static str,
    routes: fn() -> Router<App>,
}

impl Page {
    /// Where it is, below the path that everything is mounted at. That itself has no slash at its end.
    pub(crate) fn href(&self, base: &str) -> String {
        if base.is_empty() {
            self.path.to_owned()
        } else {
            format!("{base}{}", self.path.trim_end_matches('/'))
        }
    }
}

/// In the order of the navigation.
pub(crate) const PAGES: &[Page] = &[
    overview::PAGE,
    runs::PAGE,
    jobs::PAGE,
    queues::PAGE,
    dead::PAGE,
    waits::PAGE,
    schedules::PAGE,
    flows::PAGE,
    workers::PAGE,
];

pub(crate) fn routes() -> Router<App> {
    PAGES.iter().fold(Router::new(), |router, page| router.merge((page.routes)()))
}

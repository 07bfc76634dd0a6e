//! What all requests share.

use std::sync::Arc;

use pgflow_runtime::db::Db;

use crate::api::Feeds;
use crate::cached::Shapes;
use crate::live::Hub;
use crate::options::Options;

/// The database, what may be done with it, and who looks at it live. Clones are one.
#[derive(Clone)]
pub(crate) struct App(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) db: Db,
    pub(crate) options: Options,
    pub(crate) hub: Hub,
    pub(crate) feeds: Feeds,
    pub(crate) shapes: Shapes,
}

impl App {
    pub(crate) fn new(db: &Db, options: Options) -> Self {
        let (hub, feeds, shapes) = (Hub::default(), Feeds::default(), Shapes::default());
        Self(Arc::new(Inner { db: db.clone(), options, hub, feeds, shapes }))
    }
}

impl std::ops::Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

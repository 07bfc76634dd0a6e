//! What pages link to, compiled in.

use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::routing::get;

use crate::app::App;

/// A file that pages link to.
pub(crate) struct Asset {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
}

pub(crate) const STYLE: Asset =
    Asset::new("/assets/style.css", "text/css", include_str!("../assets/style.css"));
pub(crate) const SCRIPT: Asset =
    Asset::new("/assets/live.js", "text/javascript", include_str!("../assets/live.js"));
pub(crate) const ICON: Asset =
    Asset::new("/assets/icon.svg", "image/svg+xml", include_str!("../assets/icon.svg"));

impl Asset {
    const fn new(path: &'static str, kind: &'static str, text: &'static str) -> Self {
        Self { path, kind, text }
    }

    /// Where it is; another address as soon as it is another file, so that it may be kept for ever.
    pub(crate) fn href(&self, base: &str) -> String {
        let fingerprint = self.text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("{base}{}?{fingerprint:x}", self.path)
    }
}

pub(crate) fn routes() -> Router<App> {
    [STYLE, SCRIPT, ICON].into_iter().fold(Router::new(), |router, asset| {
        let headers = [(CONTENT_TYPE, asset.kind), (CACHE_CONTROL, "max-age=31536000, immutable")];
        router.route(asset.path, get(move || async move { (headers, asset.text) }))
    })
}

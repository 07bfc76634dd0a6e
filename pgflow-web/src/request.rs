//! What a page knows about who asks for it.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::Access;
use crate::app::App;
use crate::error::PageError;
use crate::guard::{Base, Token};

/// A request that has passed the guard.
pub(crate) struct Asked {
    pub(crate) app: App,
    /// The path that everything is below.
    pub(crate) base: String,
    /// For forms; nothing if there are none for this one.
    pub(crate) form: Option<Token>,
}

impl FromRequestParts<App> for Asked {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, PageError> {
        let known = || PageError::Unknown;
        let Base(base) = parts.extensions.get::<Base>().ok_or_else(known)?.clone();
        let access = *parts.extensions.get::<Access>().ok_or_else(known)?;
        let may_act = app.options.actions && access == Access::Act;
        let form = parts.extensions.get::<Token>().filter(|_| may_act).cloned();
        Ok(Self { app: app.clone(), base, form })
    }
}

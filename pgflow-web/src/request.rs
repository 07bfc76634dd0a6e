//! What a page knows about who asks for it.

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

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

/// Parameters of an address. What cannot be read gets a page of ours, as everything else does.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Query<T> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, PageError> {
        match axum::extract::Query::from_request_parts(parts, app).await {
            Ok(axum::extract::Query(asked)) => Ok(Self(asked)),
            Err(wrong) => Err(unreadable("address", wrong.status(), &wrong.body_text())),
        }
    }
}

/// The same for what the path of an address holds.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Path<T> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, PageError> {
        match axum::extract::Path::from_request_parts(parts, app).await {
            Ok(axum::extract::Path(asked)) => Ok(Self(asked)),
            Err(wrong) => Err(unreadable("address", wrong.status(), &wrong.body_text())),
        }
    }
}

/// The same for a form that was sent.
pub(crate) struct Form<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Form<T> {
    type Rejection = PageError;

    async fn from_request(request: Request, app: &App) -> Result<Self, PageError> {
        match axum::Form::from_request(request, app).await {
            Ok(axum::Form(sent)) => Ok(Self(sent)),
            Err(wrong) => Err(unreadable("form", wrong.status(), &wrong.body_text())),
        }
    }
}

fn unreadable(what: &str, status: StatusCode, why: &str) -> PageError {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => PageError::TooLarge,
        _ => PageError::Wrong(format!("the {what} cannot be read: {why}")),
    }
}

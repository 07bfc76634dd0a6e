//! What stands between a request and a page.

mod csrf;
mod headers;
mod hosts;

use axum::extract::{OriginalUri, Request, State};
use axum::http::header::{CONTENT_LENGTH, SET_COOKIE};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

pub(crate) use csrf::{Token, check};
pub(crate) use headers::add as add_headers;
pub(crate) use hosts::only_known_hosts;

use crate::Access;
use crate::app::App;
use crate::error::{Failed, PageError};

/// Finds out who asks and from where, and says to the browser what a page may do.
pub(crate) async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let base = Base::of(&request);
    let below = base.0.clone();
    let access = app.options.auth.as_ref().map_or(Access::Act, |auth| auth(request.headers()));
    let path = request.uri().path();
    let is_file = path.starts_with("/assets/");
    let mut response = if access == Access::Deny {
        PageError::Unknown.into_response()
    } else {
        let (token, is_new) = Token::of(request.headers());
        let cookie = is_new.then(|| token.cookie(&base, app.options.is_secure));
        let extensions = request.extensions_mut();
        extensions.insert(token);
        extensions.insert(base);
        extensions.insert(access);
        let mut response = styled(to_its_end(next.run(request)).await, &below);
        if let Some(cookie) = cookie.filter(|_| app.options.actions && !is_file) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
        response
    };
    headers::add(response.headers_mut());
    response
}

/// The page of an error, in our style: it did not know where that is.
fn styled(mut response: Response, base: &str) -> Response {
    let Some(failed) = response.extensions_mut().remove::<Failed>() else { return response };
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, failed.styled(base).into())
}

/// A browser that goes away must not break off a call in the middle: the database would have to give up a connection.
async fn to_its_end(page: impl Future<Output = Response> + Send + 'static) -> Response {
    let page = tokio::spawn(page).await;
    page.unwrap_or_else(|_| PageError::Broken.into_response())
}

/// The path that everything is below, when it is mounted in an application; empty if nowhere.
#[derive(Clone, Debug)]
pub(crate) struct Base(pub(crate) String);

impl Base {
    fn of(request: &Request) -> Self {
        let whole = request.extensions().get::<OriginalUri>();
        let whole = whole.map_or("", |uri| uri.path());
        // Of `/admin`, nested at `/admin`, the rest is `/`.
        let base = whole.strip_suffix(request.uri().path()).unwrap_or(whole);
        Self(base.trim_end_matches('/').to_owned())
    }
}

//! Who may, and how much of a request is read.

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use pgflow_machine::wait::HookToken;

use super::error::ApiError;
use crate::Access;
use crate::app::App;
use crate::guard::add_headers;

/// Bytes of all headers.
pub(super) const LARGEST_HEAD: usize = 16 << 10;

/// For those who read.
pub(super) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let refusal = (access(&app, request.headers()) == Access::Deny).then_some(ApiError::Unknown);
    pass(refusal, request, next).await
}

/// For those who signal.
pub(super) async fn hook_guard(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Response {
    let access = access(&app, request.headers());
    let refusal = match access {
        Access::Act => None,
        _ if app.options.signals.open => None,
        Access::Read => Some(ApiError::Forbidden),
        Access::Deny => Some(ApiError::Unknown),
    };
    let tokens = tokens(&app, access);
    request.extensions_mut().insert(tokens);
    pass(refusal, request, next).await
}

/// Whoever may act may use names too, if it is known who that is, or the application says that it sees to it.
fn tokens(app: &App, access: Access) -> Tokens {
    let is_seen_to = app.options.auth.is_some() || app.options.signals.named;
    if access == Access::Act && is_seen_to { Tokens::All } else { Tokens::Announced }
}

/// Tokens that a request may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tokens {
    All,
    /// Only those that nobody can guess: anybody could fill the database with signals for names.
    Announced,
}

impl Tokens {
    pub(super) fn allow(self, token: &HookToken) -> bool {
        self == Self::All || token.is_announced()
    }
}

fn access(app: &App, headers: &HeaderMap) -> Access {
    app.options.auth.as_ref().map_or(Access::Act, |auth| auth(headers))
}

async fn pass(refusal: Option<ApiError>, request: Request, next: Next) -> Response {
    let headers = request.headers().iter();
    let bytes: usize = headers.map(|(name, value)| name.as_str().len() + value.len()).sum();
    let refusal = if bytes > LARGEST_HEAD { Some(ApiError::Head) } else { refusal };
    let mut response = match refusal {
        Some(error) => error.into_response(),
        // A client that goes away must not break off a call in the middle.
        None => tokio::spawn(next.run(request))
            .await
            .unwrap_or_else(|_| ApiError::Broken.into_response()),
    };
    add_headers(response.headers_mut());
    response
}

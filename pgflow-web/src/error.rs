//! Why a page cannot be shown.

use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use maud::html;
use pgflow_runtime::backend::BackendError;
use pgflow_runtime::client::ClientError;

use crate::html::shell;

/// Why a page cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// The address or the form makes no sense.
    #[error("{0}")]
    Wrong(String),
    /// No form of ours is as large.
    #[error("the form is too large")]
    TooLarge,
    /// It may not be done.
    #[error("{0}")]
    Forbidden(String),
    /// Somebody has to say who they are.
    #[error("you have to sign in to see this")]
    Unknown,
    /// It panicked.
    #[error("the page could not be made; the log says more")]
    Broken,
    /// The database has no answer.
    #[error(transparent)]
    Database(#[from] BackendError),
}

impl From<ClientError> for PageError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Backend(error) => Self::Database(error),
            ClientError::UnknownRun { .. }
            | ClientError::UnknownJob { .. }
            | ClientError::UnknownSchedule { .. } => Self::NotFound(error.to_string()),
            other => Self::Wrong(other.to_string()),
        }
    }
}

impl PageError {
    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Wrong(_) => StatusCode::BAD_REQUEST,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Unknown => StatusCode::UNAUTHORIZED,
            Self::Database(error) if error.is_temporary() => StatusCode::SERVICE_UNAVAILABLE,
            Self::Broken | Self::Database(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn page(&self, base: Option<&str>) -> Html<String> {
        let title = self.status().canonical_reason().unwrap_or("Error");
        let body = html! {
            h1 { (title) }
            @for sentence in self.sentences() { p { (sentence) } }
        };
        shell::bare(title, base, &body)
    }

    /// The error and what led to it.
    fn sentences(&self) -> Vec<String> {
        let mut sentences = vec![self.to_string()];
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            sentences.push(error.to_string());
            cause = error.source();
        }
        sentences
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let status = self.status();
        if status.is_server_error() {
            tracing::warn!(error = self.sentences().join(": "), "a page cannot be shown");
        }
        let mut response = (status, self.page(None)).into_response();
        if matches!(self, Self::Unknown) {
            let ask = header::HeaderValue::from_static("Basic realm=\"pgflow\", charset=\"UTF-8\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, ask);
        }
        response.extensions_mut().insert(Failed(Arc::new(self)));
        response
    }
}

/// Why a response is none: for the guard, which knows where the style sheet is.
#[derive(Clone)]
pub(crate) struct Failed(Arc<PageError>);

impl Failed {
    /// The same page in our style.
    pub(crate) fn styled(&self, base: &str) -> String {
        self.0.page(Some(base)).0
    }
}

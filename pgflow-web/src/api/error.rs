//! Why there is no answer, as JSON.

use axum::http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use pgflow_runtime::backend::BackendError;
use serde_json::json;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum ApiError {
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// Not with this method.
    #[error("this route has no such method")]
    Method,
    /// The address or a header makes no sense.
    #[error("{0}")]
    Wrong(String),
    /// Somebody has to say who they are.
    #[error("you have to say who you are")]
    Unknown,
    /// It may not be done.
    #[error("you may read, but not signal")]
    Forbidden,
    /// Something else was said with the same key.
    #[error("another body was sent with this `Idempotency-Key` before; that one counts")]
    Conflict,
    /// Nobody waits, and nobody will.
    #[error("nobody waits for this, or no longer")]
    Gone,
    /// There is too much of it.
    #[error("a body may have {limit} bytes")]
    Large {
        /// How many it may have.
        limit: usize,
    },
    /// It is no JSON.
    #[error("the body has to be JSON, with the header `Content-Type: application/json`")]
    Kind,
    /// It is not what is waited for.
    #[error("{message}")]
    Rejected {
        /// Where in the body.
        path: String,
        /// What is wrong there.
        message: String,
    },
    /// As many are kept as can be.
    #[error("too many signals are kept for this hook; send it again when somebody waits for them")]
    Full,
    /// There are too many headers.
    #[error("headers of a request may have {} bytes", super::guard::LARGEST_HEAD)]
    Head,
    /// It panicked.
    #[error("there is no answer; the log says more")]
    Broken,
    /// The database has no answer.
    #[error("the database has no answer; the log says more")]
    Database(#[from] BackendError),
}

impl ApiError {
    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Wrong(_) => StatusCode::BAD_REQUEST,
            Self::Unknown => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::Conflict => StatusCode::CONFLICT,
            Self::Gone => StatusCode::GONE,
            Self::Large { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Kind => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Rejected { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Database(BackendError::Unsupported { .. }) => StatusCode::NOT_IMPLEMENTED,
            Self::Full => StatusCode::TOO_MANY_REQUESTS,
            Self::Head => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Database(error) if error.is_temporary() => StatusCode::SERVICE_UNAVAILABLE,
            Self::Broken | Self::Database(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        // Whoever asks is told less of it than whoever looks after the program.
        if let Self::Database(error) = &self {
            tracing::warn!(%error, "a request cannot be answered");
        }
        let mut json = json!({ "error": self.to_string() });
        if let Self::Rejected { path, .. } = &self {
            json["path"] = path.as_str().into();
        }
        let mut response = answer(self.status(), &json);
        if matches!(self, Self::Unknown) {
            let ask = HeaderValue::from_static("Basic realm=\"pgflow\", charset=\"UTF-8\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, ask);
        }
        response
    }
}

/// An answer in JSON.
pub(super) fn answer(status: StatusCode, json: &serde_json::Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], format!("{json}\n")).into_response()
}

//! Signals for steps that wait: `POST /hooks/{token}`.
//!
//! Whoever has a token may signal, so it is a secret: it is in no answer and no log. That a wait is over and that there never was
//! one look the same from outside.

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::rejection::{BytesRejection, FailedToBufferBody, PathRejection};
use axum::extract::{DefaultBodyLimit, FromRequest, Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use pgflow_machine::wait::{HookToken, Signal, SignalProblem, SignalTo, Signalled};
use pgflow_machine::{Limits, PayloadError};
use pgflow_runtime::backend::BackendError;
use serde_json::{Value, json};

use super::error::{ApiError, answer};
use super::guard::Tokens;
use crate::app::App;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

pub(super) async fn signal(
    State(app): State<App>,
    Extension(tokens): Extension<Tokens>,
    token: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let token = token.ok().and_then(|Path(token)| token.parse().ok());
    let token: HookToken = token.filter(|token| tokens.allow(token)).ok_or_else(unknown)?;
    let key = key(&headers)?;
    let limits = app.db.limits().await?;
    let payload = payload(&headers, body, &limits).await?;
    let signal = Signal { resume_id: key, ..Signal::new(SignalTo::Token(token), payload) };
    signal.check(&limits).map_err(refused)?;
    let signalled = app.db.backend().waits()?.signal(&signal).await;
    outcome(signalled.map_err(|error| match error {
        BackendError::TooManySignals { .. } => ApiError::Full,
        other => other.into(),
    })?)
}

fn unknown() -> ApiError {
    ApiError::NotFound("there is no such hook".into())
}

/// What makes a repeated request the same one.
fn key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(key) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let wrong =
        |_| ApiError::Wrong("`Idempotency-Key` has characters that are not printable".into());
    key.to_str().map(|key| Some(key.to_owned())).map_err(wrong)
}

/// No more of the body is read than can be stored.
async fn payload(headers: &HeaderMap, body: Body, limits: &Limits) -> Result<Value, ApiError> {
    if !is_json(headers) {
        return Err(ApiError::Kind);
    }
    let mut request = Request::new(body);
    DefaultBodyLimit::max(limits.max_bytes).apply(&mut request);
    let unread = |error| unread(&error, limits.max_bytes);
    let bytes = Bytes::from_request(request, &()).await.map_err(unread)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ApiError::Wrong(format!("the body is no JSON: {error}")))
}

/// Not everything that breaks off is too large.
fn unread(error: &BytesRejection, limit: usize) -> ApiError {
    use FailedToBufferBody::LengthLimitError;
    match error {
        BytesRejection::FailedToBufferBody(LengthLimitError(_)) => ApiError::Large { limit },
        _ => ApiError::Wrong("the body broke off before its end".into()),
    }
}

/// A form of another site is never this, so that none can signal with the cookies of somebody else.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

fn refused(problem: SignalProblem) -> ApiError {
    match problem {
        SignalProblem::Payload(PayloadError::TooLarge { limit, .. }) => ApiError::Large { limit },
        SignalProblem::Payload(other) => {
            ApiError::Rejected { path: String::new(), message: other.to_string() }
        }
        SignalProblem::ResumeId(why) => ApiError::Wrong(format!("`Idempotency-Key` {why}")),
        other => ApiError::Wrong(other.to_string()),
    }
}

fn outcome(signalled: Signalled) -> Result<Response, ApiError> {
    let told = |status, word: &str| Ok(answer(status, &json!({ "outcome": word })));
    match signalled {
        Signalled::Delivered(_) => told(StatusCode::OK, "delivered"),
        Signalled::Duplicate => told(StatusCode::OK, "duplicate"),
        Signalled::Conflict => Err(ApiError::Conflict),
        Signalled::Buffered => told(StatusCode::ACCEPTED, "buffered"),
        Signalled::Rejected { path, message } => Err(ApiError::Rejected { path, message }),
        Signalled::Gone => Err(ApiError::Gone),
    }
}

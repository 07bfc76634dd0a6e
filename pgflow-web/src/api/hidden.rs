//! Tokens of hooks are kept out of spans.

use axum::extract::{OriginalUri, Request};
use axum::http::Uri;
use axum::http::uri::PathAndQuery;

const BEFORE: &str = "/hooks/";
const INSTEAD: &str = "-";

/// Takes tokens of hooks out of the addresses of requests, for applications that put those into logs or traces. As the
/// outermost layer: what is added before it sees `/hooks/-`, and the hook is found all the same.
///
/// ```
/// use axum::middleware::map_request;
///
/// # fn example(app: axum::Router) -> axum::Router {
/// // let app = app.layer(TraceLayer::new_for_http());
/// app.layer(map_request(pgflow_web::hide_tokens))
/// # }
/// ```
pub async fn hide_tokens(mut request: Request) -> Request {
    if let Some(uri) = hidden(request.uri()) {
        *request.uri_mut() = uri;
    }
    if let Some(OriginalUri(uri)) = request.extensions_mut().get_mut()
        && let Some(hidden) = hidden(uri)
    {
        *uri = hidden;
    }
    request
}

/// The address without its token, if it has one.
fn hidden(uri: &Uri) -> Option<Uri> {
    let (before, _) = uri.path().rsplit_once(BEFORE)?;
    let mut parts = uri.clone().into_parts();
    let path = format!("{before}{BEFORE}{INSTEAD}");
    parts.path_and_query = Some(PathAndQuery::try_from(path).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tokens_are_hidden() {
        let text = |uri: &str| hidden(&uri.parse().unwrap()).map(|uri| uri.to_string());
        assert_eq!(text("/api/hooks/hk_secret?a=hk_secret").as_deref(), Some("/api/hooks/-"));
        assert_eq!(text("http://here/hooks/a%2Fb").as_deref(), Some("http://here/hooks/-"));
        assert_eq!(text("/runs/1/events"), None);
    }
}

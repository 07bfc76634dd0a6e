//! The names that a server on loopback answers to.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::PageError;

/// Refuses requests for another name: a page elsewhere whose name was made to lead here could read everything.
pub(crate) async fn only_known_hosts(
    State(names): State<Arc<[String]>>,
    request: Request,
    next: Next,
) -> Response {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
    if is_known(host, &names) {
        return next.run(request).await;
    }
    let why = "this server answers to `localhost` and loopback addresses; \
               `Options::host` adds a name";
    PageError::Forbidden(why.into()).into_response()
}

fn is_known(host: &str, names: &[String]) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host();
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address| address.is_loopback())
        || names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_few_names() {
        let names = ["flows.example".to_owned()];
        for host in ["localhost", "LocalHost:80", "127.0.0.1:80", "[::1]:80", "flows.example:8080"]
        {
            assert!(is_known(host, &names), "{host}");
        }
        for host in
            ["", "evil.example", "localhost.evil.example", "10.0.0.1", "127.0.0.1.evil", "a b"]
        {
            assert!(!is_known(host, &names), "{host}");
        }
    }
}

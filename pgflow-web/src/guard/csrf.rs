//! Forms are only taken from our own pages.
//!
//! A browser sends its cookie along with a form from anywhere, but a page elsewhere cannot read it, and so cannot put it
//! into the form. Browsers also say where a form came from, which settles it where somebody can set cookies for a
//! neighbouring name.

use axum::http::header::{COOKIE, HOST, HeaderName, HeaderValue, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};
use uuid::Uuid;

use super::Base;
use crate::access::is_same;
use crate::error::PageError;

const NAME: &str = "pgflow_form";
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What a form has to hold, and the browser's cookie with it.
#[derive(Clone, Debug)]
pub(crate) struct Token(String);

impl Token {
    /// The browser's, or a new one.
    pub(super) fn of(headers: &HeaderMap) -> (Self, bool) {
        match cookie(headers) {
            Some(token) => (Self(token.to_owned()), false),
            None => (Self::new(), true),
        }
    }

    fn new() -> Self {
        Self(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()))
    }

    /// For the form.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// For the browser.
    pub(super) fn cookie(&self, Base(base): &Base, is_secure: bool) -> HeaderValue {
        // Another character than these never was in a path that led here.
        let path: String = base.chars().filter(|c| c.is_ascii_graphic() && *c != ';').collect();
        let secure = if is_secure { "; Secure" } else { "" };
        let cookie = format!("{NAME}={}; Path={path}/; HttpOnly; SameSite=Strict{secure}", self.0);
        HeaderValue::try_from(cookie).unwrap_or(HeaderValue::from_static(""))
    }
}

/// Whether a form came from one of our pages.
pub(crate) fn check(headers: &HeaderMap, token: Option<&str>) -> Result<(), PageError> {
    if !is_from_here(headers) {
        return Err(PageError::Forbidden("the form was sent from another site".into()));
    }
    let (expected, given) = (cookie(headers).unwrap_or(""), token.unwrap_or(""));
    if expected.is_empty() || !is_same(given.as_bytes(), expected.as_bytes()) {
        let help = "the form is not from this browser; load the page again and repeat it there";
        return Err(PageError::Forbidden(help.into()));
    }
    Ok(())
}

/// Programs that are no browsers say nothing.
fn is_from_here(headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get(FETCH_SITE) {
        return site == "same-origin";
    }
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
    let origin = origin.as_ref().and_then(Uri::authority).map(Authority::as_str);
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    origin.is_some() && origin == host
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).map(str::trim);
    let value = pairs.find_map(|pair| pair.strip_prefix(NAME)?.strip_prefix('='))?;
    let is_ours = value.len() == 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_ours.then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::try_from(*value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_form_needs_the_cookie_and_the_same_in_itself() {
        let token = Token::new();
        let sent = format!("other=1; {NAME}={}", token.text());
        assert!(check(&headers(&[("cookie", &sent)]), Some(token.text())).is_ok());
        assert!(check(&headers(&[("cookie", &sent)]), None).is_err());
        assert!(check(&headers(&[("cookie", &sent)]), Some(Token::new().text())).is_err());
        assert!(check(&headers(&[]), Some(token.text())).is_err());
        assert!(check(&headers(&[("cookie", &format!("{NAME}="))]), Some("")).is_err());
    }

    #[test]
    fn a_cookie_may_be_for_encrypted_connections_only() {
        let cookie = |is_secure| {
            let cookie = Token::new().cookie(&Base("/flows".to_owned()), is_secure);
            cookie.to_str().expect("it is text").to_owned()
        };
        assert!(cookie(true).ends_with("; Path=/flows/; HttpOnly; SameSite=Strict; Secure"));
        assert!(!cookie(false).contains("Secure"));
    }

    #[test]
    fn a_form_from_elsewhere_is_refused_whatever_it_holds() {
        let token = Token::new();
        let sent = format!("{NAME}={}", token.text());
        let from = |name: &'static str, value: &str| {
            let headers = headers(&[("cookie", &sent), ("host", "here:80"), (name, value)]);
            check(&headers, Some(token.text())).is_ok()
        };
        assert!(from("sec-fetch-site", "same-origin") && from("origin", "http://here:80"));
        for site in ["cross-site", "same-site", "none"] {
            assert!(!from("sec-fetch-site", site), "{site}");
        }
        for origin in ["http://there:80", "http://here:81", "http://here:80.evil", "null"] {
            assert!(!from("origin", origin), "{origin}");
        }
    }
}

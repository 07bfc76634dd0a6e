//! Who may do what.

use axum::http::{HeaderMap, header};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// What a request may do.
///
/// ```
/// use pgflow_web::{Access, Options};
///
/// // A proxy before it has found out who it is.
/// let options = Options::new().auth(|headers| match headers.get("x-user") {
///     Some(user) if user == "operator" => Access::Act,
///     Some(_) => Access::Read,
///     None => Access::Deny,
/// });
/// # drop(options);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Nothing.
    Deny,
    /// Look at everything.
    Read,
    /// Look, retry or cancel runs if [`Options::actions`](crate::Options::actions) says so, and signal.
    Act,
}

/// Asks for a name and a password, as HTTP's basic authentication has it: only over connections that are encrypted, or
/// that do not leave the machine.
///
/// ```
/// let options = pgflow_web::Options::new().auth(pgflow_web::basic("ann", "secret"));
/// # drop(options);
/// ```
pub fn basic(
    user: impl AsRef<str>,
    password: impl AsRef<str>,
) -> impl Fn(&HeaderMap) -> Access + Send + Sync + 'static {
    let pair = format!("{}:{}", user.as_ref(), password.as_ref());
    let expected = BASE64_STANDARD.encode(pair).into_bytes();
    move |headers| {
        let given = headers.get(header::AUTHORIZATION).and_then(|given| given.to_str().ok());
        let given = given.and_then(|given| given.split_once(' '));
        match given {
            Some((scheme, given))
                if scheme.eq_ignore_ascii_case("basic") && is_same(given.as_bytes(), &expected) =>
            {
                Access::Act
            }
            _ => Access::Deny,
        }
    }
}

/// Takes as long whatever differs, so that nobody finds out a password letter by letter.
pub(crate) fn is_same(given: &[u8], expected: &[u8]) -> bool {
    let differences = given.iter().zip(expected).fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == expected.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(authorization: Option<&str>) -> Access {
        let mut headers = HeaderMap::new();
        if let Some(text) = authorization {
            headers.insert(header::AUTHORIZATION, text.parse().unwrap());
        }
        basic("ann", "se:cret")(&headers)
    }

    #[test]
    fn only_the_right_password_opens() {
        assert_eq!(asked(Some("Basic YW5uOnNlOmNyZXQ=")), Access::Act);
        assert_eq!(asked(Some("basic YW5uOnNlOmNyZXQ=")), Access::Act);
        for wrong in [
            None,
            Some("Basic YW5uOnNlOmNyZXR="),
            Some("Basic YW5uOnNlOmNyZXQ"),
            Some("Basic "),
            Some("YW5uOnNlOmNyZXQ="),
            Some("Bearer YW5uOnNlOmNyZXQ="),
        ] {
            assert_eq!(asked(wrong), Access::Deny, "{wrong:?}");
        }
    }
}

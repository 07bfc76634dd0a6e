//! Names of hooks.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use uuid::Uuid;

/// What the tokens begin with that nobody chose.
pub const ANNOUNCED: &str = "hk_";

/// Bytes that a token may have.
pub const MAX_TOKEN: usize = 200;

/// Names a hook. Whoever knows it can signal, so it is shown by nothing but [`as_str`](Self::as_str).
///
/// ```
/// use pgflow_machine::wait::HookToken;
///
/// let (one, other) = (HookToken::new(), HookToken::new());
/// assert_ne!(one, other);
/// assert!(one.is_announced() && one.as_str().len() == 46);
/// assert_eq!(format!("{one:?}"), "HookToken(hk_…)");
/// assert!(!HookToken::named("order-42-approval")?.is_announced());
/// assert!(HookToken::named("hk_mine").is_err(), "nobody chooses one that looks unguessable");
/// # Ok::<(), pgflow_machine::wait::InvalidToken>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HookToken(Arc<str>);

/// A text that cannot be a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the token of a hook {why}")]
pub struct InvalidToken {
    /// What is wrong with it.
    pub why: &'static str,
}

impl HookToken {
    /// A new one that nobody can guess.
    #[expect(clippy::new_without_default, reason = "two defaults would differ")]
    pub fn new() -> Self {
        let bytes = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
        Self(format!("{ANNOUNCED}{}", base64url(&bytes)).into())
    }

    /// One that a step chose, for signals that come early, or from somewhere that can know it.
    pub fn named(name: &str) -> Result<Self, InvalidToken> {
        if name.starts_with(ANNOUNCED) {
            return Err(InvalidToken {
                why: "begins with hk_, as only those do that nobody chose",
            });
        }
        name.parse()
    }

    /// From what a database has, which is not looked at again.
    pub fn from_stored(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Nobody chose it.
    pub fn is_announced(&self) -> bool {
        self.0.starts_with(ANNOUNCED)
    }
}

impl FromStr for HookToken {
    type Err = InvalidToken;

    fn from_str(text: &str) -> Result<Self, InvalidToken> {
        let why = match text.len() {
            0 => "is empty",
            1..=MAX_TOKEN if text.chars().any(char::is_control) => {
                "has a character that is not printable"
            }
            1..=MAX_TOKEN => return Ok(Self(text.into())),
            _ => "has more than 200 bytes",
        };
        Err(InvalidToken { why })
    }
}

impl fmt::Debug for HookToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A secret; one that somebody chose may be guessed, and is none.
        let shown = if self.is_announced() { "hk_…" } else { self.as_str() };
        write!(f, "HookToken({shown})")
    }
}

/// Without padding.
fn base64url(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digits = [18, 12, 6, 0].into_iter().take(chunk.len() + 1);
        text.extend(digits.map(|shift| char::from(DIGITS[(bits >> shift & 63) as usize])));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64url_is_that_of_the_standard() {
        for (bytes, text) in
            [(&b""[..], ""), (b"f", "Zg"), (b"fo", "Zm8"), (b"foo", "Zm9v"), (&[251, 255], "-_8")]
        {
            assert_eq!(base64url(bytes), text);
        }
    }

    #[test]
    fn tokens_are_printable_and_bounded() {
        assert!("".parse::<HookToken>().is_err());
        assert!("a\nb".parse::<HookToken>().is_err());
        assert!("é".repeat(100).parse::<HookToken>().is_ok());
        assert!("é".repeat(101).parse::<HookToken>().is_err());
        assert!(HookToken::new().as_str().parse::<HookToken>().is_ok());
    }
}

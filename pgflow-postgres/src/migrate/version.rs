//! Versions that can be compared.

use std::fmt;

/// `1.5.0`; what follows the third number does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(u32, u32, u32);

impl Version {
    pub(super) const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self(major, minor, patch)
    }

    /// Missing parts are zero; nothing at all is no version.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut numbers =
            text.trim_start_matches('v').split(['.', '-', '+']).map(str::parse::<u32>);
        let major = numbers.next()?.ok()?;
        let mut next = || numbers.next().and_then(Result::ok).unwrap_or(0);
        Some(Self(major, next(), next()))
    }

    /// Of this library.
    pub(super) fn of_library() -> Self {
        Self::parse(env!("CARGO_PKG_VERSION")).expect("cargo checks the version")
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn versions_compare_by_number() {
        let version = |text| Version::parse(text).unwrap();
        assert!(version("1.10.0") > version("1.9"));
        assert!(version("v1.4.5") < version("1.5"));
        assert_eq!(version("1.5"), Version::new(1, 5, 0));
        assert_eq!(version("0.2.0-alpha.1"), Version::new(0, 2, 0));
        assert_eq!(Version::parse("unreleased"), None);
    }
}

//! What caused an error.

use std::error::Error as StdError;

/// More than this are not told: an error may name itself as its cause.
const MOST: usize = 64;

/// What caused an error, the nearest cause first.
pub(super) fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(error.source(), |cause| (*cause).source()).take(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("round")]
    struct Round;

    #[derive(Debug)]
    struct Itself;

    impl std::fmt::Display for Itself {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("itself")
        }
    }

    impl StdError for Itself {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(self)
        }
    }

    #[test]
    fn causes_come_to_an_end() {
        assert_eq!(causes(&Round).count(), 0);
        assert_eq!(causes(&Itself).count(), MOST);
    }
}

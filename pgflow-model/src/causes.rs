//! What caused an error.

use std::error::Error;

/// More than this are not told: an error may name itself as its cause.
const MOST: usize = 64;

/// What caused an error, the nearest cause first.
///
/// ```
/// let error = "x".parse::<u8>().unwrap_err();
/// assert_eq!(pgflow_model::causes(&error).count(), 0);
/// ```
pub fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause| (*cause).source()).take(MOST)
}

/// An error with what caused it, unless its text says so already. Advice on further lines stays last.
///
/// ```
/// let error = "x".parse::<u8>().unwrap_err();
/// assert_eq!(pgflow_model::with_causes(&error), "invalid digit found in string");
/// ```
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let text = error.to_string();
    let mut told = String::new();
    for cause in causes(error).map(ToString::to_string) {
        if !text.contains(&cause) && !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    match text.split_once('\n') {
        Some((first, advice)) => format!("{first}{told}\n{advice}"),
        None => text + &told,
    }
}

/// `Debug` for errors as people read them, with what caused them: that is what `main` and tests print.
///
/// ```
/// #[derive(PartialEq)]
/// struct NoPaper;
///
/// impl std::fmt::Display for NoPaper {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         f.write_str("there is no paper")
///     }
/// }
/// impl std::error::Error for NoPaper {}
/// pgflow_model::debug_with_causes!(NoPaper);
///
/// assert_eq!(format!("{NoPaper:?}"), "there is no paper");
/// ```
#[macro_export]
macro_rules! debug_with_causes {
    ($($error:ty),+ $(,)?) => { $(
        impl ::core::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(&$crate::with_causes(self))
            }
        }
    )+ };
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    /// A text, and what caused it; without one it is its own cause.
    #[derive(Debug)]
    struct Failed(&'static str, Option<Box<Failed>>);

    impl fmt::Display for Failed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Failed {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self.1.as_deref().unwrap_or(self))
        }
    }

    fn because(text: &'static str, cause: Failed) -> Failed {
        Failed(text, Some(Box::new(cause)))
    }

    #[test]
    fn causes_come_to_an_end() {
        assert_eq!(causes(&Failed("round", None)).count(), MOST);
        assert_eq!(with_causes(&Failed("round", None)), "round");
    }

    #[test]
    fn each_cause_is_told_once_and_before_the_advice() {
        let cause = || because("no disk", Failed("disk", None));
        assert_eq!(with_causes(&because("cannot pay", cause())), "cannot pay: no disk");
        assert_eq!(with_causes(&because("no disk to pay", cause())), "no disk to pay");
        assert_eq!(
            with_causes(&because("cannot pay\nhelp: buy one", cause())),
            "cannot pay: no disk\nhelp: buy one"
        );
    }
}

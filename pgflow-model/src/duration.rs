//! Durations as people write them.

use std::fmt;

/// Why a text is not a duration.
///
/// ```
/// use pgflow_model::{InvalidDuration, parse_seconds};
///
/// assert_eq!(parse_seconds("5 minutes"), Err(InvalidDuration::Syntax));
/// assert_eq!(parse_seconds("18446744073709551615d"), Err(InvalidDuration::TooLong));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidDuration {
    /// It has no number, no unit, or something else.
    Syntax,
    /// It has more seconds than the database can count.
    TooLong,
}

impl fmt::Display for InvalidDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => {
                "a duration is a whole number and a unit: `s`, `m`, `h` or `d`, such as \"30s\" or \"1h30m\""
            }
            Self::TooLong => "this duration is too long",
        })
    }
}

impl std::error::Error for InvalidDuration {}

/// Reads `30s`, `5m`, `2h`, `1d` or a row of them, such as `1h30m`, as seconds.
///
/// ```
/// assert_eq!(pgflow_model::parse_seconds("1h30m"), Ok(5400));
/// assert!(pgflow_model::parse_seconds("soon").is_err());
/// ```
pub fn parse_seconds(text: &str) -> Result<u64, InvalidDuration> {
    let mut rest = text.trim();
    let mut total = 0_u64;
    if rest.is_empty() {
        return Err(InvalidDuration::Syntax);
    }
    while !rest.is_empty() {
        let (seconds, after) = first_part(rest)?;
        total = total.checked_add(seconds).ok_or(InvalidDuration::TooLong)?;
        rest = after;
    }
    Ok(total)
}

fn first_part(text: &str) -> Result<(u64, &str), InvalidDuration> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or(InvalidDuration::Syntax)?;
    let (number, rest) = text.split_at(digits);
    if number.is_empty() {
        return Err(InvalidDuration::Syntax);
    }
    let number: u64 = number.parse().map_err(|_| InvalidDuration::TooLong)?;
    let mut rest = rest.chars();
    let unit = match rest.next() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 60 * 60,
        Some('d') => 24 * 60 * 60,
        _ => return Err(InvalidDuration::Syntax),
    };
    let seconds = number.checked_mul(unit).ok_or(InvalidDuration::TooLong)?;
    Ok((seconds, rest.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_unit_and_rows_of_them() {
        for (text, seconds) in
            [("0s", 0), ("30s", 30), ("5m", 300), ("2h", 7200), ("1d", 86_400), ("1m30s", 90)]
        {
            assert_eq!(parse_seconds(text), Ok(seconds), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_one() {
        for text in ["", "30", "s", "5 minutes", "-5s", "5ms", "1.5h"] {
            assert_eq!(parse_seconds(text), Err(InvalidDuration::Syntax), "{text}");
        }
        assert_eq!(parse_seconds("99999999999999999999s"), Err(InvalidDuration::TooLong));
        assert_eq!(parse_seconds("18446744073709551615d"), Err(InvalidDuration::TooLong));
    }
}

//! What a cron expression is.

use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use croner::Cron;
use croner::errors::CronError;
use croner::parser::{CronParser, Seconds, Year};

/// A cron expression: minute, hour, day, month and weekday, before them seconds if there are six fields.
///
/// ```
/// use pgflow_cron::Expression;
///
/// for right in ["0 3 * * MON-FRI", "*/10 * * * * *", "0 0 L * *", "@daily"] {
///     assert!(Expression::parse(right).is_ok(), "{right}");
/// }
/// let never = Expression::parse("0 0 30 2 *").unwrap_err();
/// assert_eq!(never.to_string(), "`0 0 30 2 *` never happens");
/// ```
#[derive(Clone, Debug)]
pub struct Expression(Cron);

/// A text that is not a cron expression, or one that nothing ever happens by.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` {why}")]
pub struct InvalidCron {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

impl Expression {
    /// Reads an expression. One that never happens is a mistake too.
    pub fn parse(text: &str) -> Result<Self, InvalidCron> {
        let invalid = |why| InvalidCron { text: text.to_owned(), why };
        let parser = CronParser::builder().seconds(Seconds::Optional).year(Year::Disallowed);
        let cron = parser.build().parse(text).map_err(|error| invalid(why(text, &error)))?;
        let expression = Self(cron);
        let happens = expression.next(some_day()).is_some();
        if happens { Ok(expression) } else { Err(invalid("never happens".to_owned())) }
    }

    /// The first of its times on a clock on the wall, from this one on.
    pub(crate) fn next(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        let found = self.0.find_next_occurrence(&on_the_wall(from), true).ok()?;
        Some(found.naive_utc())
    }

    /// The last of its times on a clock on the wall, up to this one.
    #[cfg(feature = "moments")]
    pub(crate) fn previous(&self, until: NaiveDateTime) -> Option<NaiveDateTime> {
        let found = self.0.find_previous_occurrence(&on_the_wall(until), true).ok()?;
        Some(found.naive_utc())
    }
}

/// A clock on the wall knows no zones: as if all were the one without changes.
fn on_the_wall(time: NaiveDateTime) -> DateTime<Utc> {
    time.and_utc()
}

/// What happens at all happens after it.
fn some_day() -> NaiveDateTime {
    NaiveDate::default().into()
}

fn why(text: &str, error: &CronError) -> String {
    let fields = text.split_whitespace().count();
    match error {
        CronError::EmptyPattern => "is empty".to_owned(),
        _ if !text.starts_with('@') && !(5..=6).contains(&fields) => {
            let noun = if fields == 1 { "field" } else { "fields" };
            format!("has {fields} {noun}: five are wanted, or six with seconds first")
        }
        CronError::ComponentError(why)
        | CronError::InvalidPattern(why)
        | CronError::IllegalCharacters(why) => {
            format!("is not a cron expression: {}", why.trim_end_matches('.'))
        }
        _ => "is not a cron expression".to_owned(),
    }
}

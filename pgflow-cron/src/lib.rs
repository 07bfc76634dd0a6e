//! Cron expressions in time zones: whether they are right, and when they happen.
//!
//! It is a crate of its own because macros check what workers compute: both must read the same language.
//!
//! | file | what is decided there |
//! |---|---|
//! | `expression` | what a cron expression is: five fields, or six with seconds first, or a word such as `@daily` |
//! | `zone` | what a time zone is called, and what somebody may have meant |
//! | `timetable` | when an expression happens in a zone, with hours that happen twice or not at all |
//!
//! ```
//! use pgflow_cron::{Expression, check_zone};
//!
//! assert!(Expression::parse("0 3 * * MON-FRI").is_ok());
//! assert!(Expression::parse("0 25 * * *").is_err());
//! let wrong = check_zone("Europe/Berln").unwrap_err();
//! assert_eq!(wrong.meant.as_deref(), Some("Europe/Berlin"));
//! ```

#![forbid(unsafe_code)]

mod expression;
#[cfg(feature = "moments")]
mod timetable;
mod zone;

pub use expression::{Expression, InvalidCron};
#[cfg(feature = "moments")]
pub use timetable::{InvalidTimetable, Timetable};
pub use zone::{UnknownZone, check_zone};

//! How a database is doing.

use std::fmt;
use std::time::{Duration, SystemTime};

use pgflow_machine::Timestamp;

/// A clock that is off by more makes times of logs and of the database hard to compare.
const SKEW: Duration = Duration::from_secs(5);

/// What a look at the database itself brought.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let db = pgflow::Db::connect("memory:").await?;
/// let checkup: pgflow::backend::Checkup = db.checkup().await?;
/// assert_eq!((checkup.backend, checkup.findings.len()), ("memory", 0));
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkup {
    /// What kind of database it is.
    pub backend: &'static str,
    /// What was looked at and is as it is, such as versions and settings.
    pub facts: Vec<Fact>,
    /// What should be otherwise.
    pub findings: Vec<Finding>,
}

impl Checkup {
    /// Of a kind of database, with nothing in it yet.
    pub fn of(backend: &'static str) -> Self {
        Self { backend, ..Self::default() }
    }

    /// Notes what is wrong with the schema, if anything is.
    pub fn schema(&mut self, state: &SchemaState) {
        let (code, what, fix) = match state {
            SchemaState::Current | SchemaState::Hidden => return,
            SchemaState::Missing => (
                "schema-missing",
                "pgflow's tables are not there".to_owned(),
                "run `pgflow install`, or call `db.migrate()`",
            ),
            SchemaState::Behind { found, known } => (
                "schema-behind",
                format!("the schema is older ({found}) than this program wants ({known})"),
                "run `pgflow install`, or call `db.migrate()`",
            ),
            SchemaState::Newer { found, known } => (
                "schema-newer",
                format!("the schema is newer ({found}) than this program knows ({known})"),
                "use a `pgflow` that is as new as the database",
            ),
        };
        self.find(code, Severity::Error, what, fix);
    }

    /// Notes how far the server's clock, which was read at some moment of a trip, is off this machine's.
    pub fn clock(&mut self, server: Timestamp, before: SystemTime, trip: Duration) {
        let Ok(here) = (before + trip / 2).duration_since(SystemTime::UNIX_EPOCH) else { return };
        let here = Timestamp::from_micros(i64::try_from(here.as_micros()).unwrap_or(i64::MAX));
        let (ahead, behind) = (here.saturating_until(server), server.saturating_until(here));
        let (off, side, sign) =
            if ahead > behind { (ahead, "ahead of", "") } else { (behind, "behind", "-") };
        self.fact("clock_skew_seconds", format_args!("{sign}{:.3}", off.as_secs_f64()));
        if off > SKEW + trip {
            self.find(
                "clock-skew",
                Severity::Warning,
                format!("the server's clock is {} s {side} this machine's", off.as_secs()),
                "let both machines take their time from the same source",
            );
        }
    }

    /// Notes that nothing can be written, and why.
    pub fn read_only(&mut self, what: impl Into<String>, fix: impl Into<String>) {
        self.find("read-only", Severity::Error, what, fix);
    }

    /// Notes a fact.
    pub fn fact(&mut self, name: &'static str, value: impl fmt::Display) {
        self.facts.push(Fact { name, value: value.to_string() });
    }

    /// Notes a finding.
    pub fn find(
        &mut self,
        code: &'static str,
        severity: Severity,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.findings.push(Finding { code, severity, what: what.into(), fix: fix.into() });
    }
}

/// Which schema a database has, compared with the one that this library knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaState {
    /// None of ours.
    Missing,
    /// An older one: what it has, and what it should have.
    Behind {
        /// The newest file that was applied.
        found: String,
        /// The newest file there is.
        known: String,
    },
    /// The one that this library knows.
    Current,
    /// A newer one.
    Newer {
        /// The newest file that was applied, or the version of the library that did.
        found: String,
        /// The newest one that this library knows.
        known: String,
    },
    /// This login may not look.
    Hidden,
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is, such as `schema`.
    pub name: &'static str,
    /// What it says.
    pub value: String,
}

/// Something that should be otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What programs know it by, such as `dead-tuples`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, as a sentence.
    pub what: String,
    /// What to do about it, as a sentence.
    pub fix: String,
}

/// How bad a finding is.
///
/// ```
/// use pgflow::backend::Severity;
///
/// assert!(Severity::Error > Severity::Warning);
/// assert_eq!(Severity::Error.word(), "error");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It works, and may be slow, or lose more than it must in a crash.
    Warning,
    /// It does not work, or not for long.
    Error,
}

impl Severity {
    /// As programs spell it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

//! When a flow starts by itself: `schedule = …` and what goes with it.

use pgflow_cron::{Expression, check_zone};
use pgflow_model::{Missed, Overlap};
use syn::parse::ParseStream;
use syn::{Expr, Ident, LitStr, Type};

use crate::errors::Errors;
use crate::pretty::pretty;
use crate::value::value;

/// The options, in the order in which they are described.
pub(crate) const OPTIONS: [&str; 5] =
    ["schedule", "timezone", "missed", "overlap", "schedule_input"];

const CRON: &str = "`schedule` is a cron expression in quotes: `schedule = \"0 3 * * MON-FRI\"`";
const ZONE: &str =
    "`timezone` is the name of a time zone in quotes: `timezone = \"Europe/Berlin\"`";
const MISSED: &str = "`missed` is `\"skip\"`, `\"last\"` or `\"all(10)\"`";
const OVERLAP: &str = "`overlap` is `\"allow\"`, `\"skip\"` or `\"queue\"`";
const INPUT: &str =
    "`schedule_input` makes the input of a run: `schedule_input = Report::yesterday()`";

/// When a flow starts by itself.
pub struct Schedule {
    /// The cron expression.
    pub cron: LitStr,
    /// The time zone; UTC by default.
    pub timezone: Option<LitStr>,
    /// What becomes of moments that were missed.
    pub missed: Option<LitStr>,
    /// What becomes of moments that come while a run goes on.
    pub overlap: Option<LitStr>,
    /// What runs are given.
    pub input: Option<Expr>,
}

/// What was said about it.
#[derive(Default)]
pub(crate) struct ScheduleArgs {
    /// The words that were used.
    words: Vec<Ident>,
    cron: Option<LitStr>,
    timezone: Option<LitStr>,
    missed: Option<LitStr>,
    overlap: Option<LitStr>,
    input: Option<Expr>,
}

impl ScheduleArgs {
    /// Reads one of the [`OPTIONS`].
    pub(crate) fn option(&mut self, name: &Ident, args: ParseStream<'_>) -> syn::Result<()> {
        self.words.push(name.clone());
        match name.to_string().as_str() {
            "schedule" => self.cron = Some(text(args, name, CRON, cron)?),
            "timezone" => self.timezone = Some(text(args, name, ZONE, zone)?),
            "missed" => {
                self.missed = Some(text(args, name, MISSED, |text| wrong::<Missed>(text, MISSED))?);
            }
            "overlap" => {
                self.overlap =
                    Some(text(args, name, OVERLAP, |text| wrong::<Overlap>(text, OVERLAP))?);
            }
            _ => self.input = Some(value(args, name, INPUT)?),
        }
        Ok(())
    }

    /// The schedule, if all of it was said.
    pub(crate) fn check(self, input: Option<&Type>, errors: &mut Errors) -> Option<Schedule> {
        let is_said = |word: &str| self.words.iter().find(|name| *name == word);
        let Some(schedule) = is_said("schedule") else {
            if let Some(name) = self.words.first() {
                errors.at(
                    name,
                    format!("`{name}` goes with a schedule\nhelp: add `schedule = \"0 3 * * *\"`"),
                );
            }
            return None;
        };
        match (input, is_said("schedule_input")) {
            (Some(ty), None) => {
                let message = "runs that a schedule starts need an input";
                let help = format!("add `schedule_input = …`, a `{}`", pretty(ty));
                errors.at(schedule, format!("{message}\nhelp: {help}"));
                return None;
            }
            (None, Some(name)) => {
                errors.at(name, "the flow takes no input".to_owned());
                return None;
            }
            _ => {}
        }
        let Self { cron, timezone, missed, overlap, input, .. } = self;
        Some(Schedule { cron: cron?, timezone, missed, overlap, input })
    }
}

/// Reads `= "text"`, and says what is wrong with it where it stands.
fn text(
    args: ParseStream<'_>,
    name: &Ident,
    wanted: &str,
    wrong: impl Fn(&str) -> Option<String>,
) -> syn::Result<LitStr> {
    let literal: LitStr = value(args, name, wanted)?;
    match wrong(&literal.value()) {
        Some(message) => Err(syn::Error::new(literal.span(), message)),
        None => Ok(literal),
    }
}

fn cron(text: &str) -> Option<String> {
    Expression::parse(text).err().map(|error| error.to_string())
}

fn zone(name: &str) -> Option<String> {
    let error = check_zone(name).err()?;
    let help = error.meant.map(|meant| format!("\nhelp: did you mean `{meant}`?"));
    Some(format!("there is no time zone `{name}`{}", help.unwrap_or_default()))
}

fn wrong<T: std::str::FromStr>(text: &str, wanted: &str) -> Option<String> {
    text.parse::<T>().is_err().then(|| format!("{wanted}, not `\"{text}\"`"))
}

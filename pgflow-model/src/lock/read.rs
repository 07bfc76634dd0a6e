//! Reads `pgflow.lock`.

use std::fmt;
use std::str::FromStr;

use super::words::Words;
use super::{DraftsAfter, Lock, LockedVersion};
use crate::{FlowShape, OnSkip, StepOptions, StepShape};

/// What git puts around the two sides of a conflict.
const CONFLICT: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

/// A line of `pgflow.lock` that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockError {
    /// Its number, from 1.
    pub line: usize,
    text: String,
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, text } = self;
        if CONFLICT.iter().any(|mark| text.starts_with(mark)) {
            return write!(
                f,
                "pgflow.lock:{line}: there is a merge conflict here\n\
                 help: keep the blocks of both sides; where both changed one flow, keep one side, \
                 delete the other's migration, and run `cargo pgflow migrate`"
            );
        }
        write!(
            f,
            "pgflow.lock:{line}: cannot read `{text}`\n\
             help: restore the file from version control, or update pgflow if a newer one wrote it"
        )
    }
}

impl std::error::Error for LockError {}

impl FromStr for Lock {
    type Err = LockError;

    fn from_str(text: &str) -> Result<Self, LockError> {
        let mut lock = Self::default();
        for (at, line) in text.lines().enumerate() {
            if !line.starts_with('#') && !line.trim().is_empty() {
                let error = || LockError { line: at + 1, text: line.trim().to_owned() };
                lock.line(line).ok_or_else(error)?;
            }
        }
        lock.versions.sort_by_key(|locked| (locked.shape.slug.clone(), locked.version));
        Ok(lock)
    }
}

impl Lock {
    fn line(&mut self, line: &str) -> Option<()> {
        let mut words = Words(line);
        match words.next()? {
            "migrations" => {
                let style = words.next()?.to_owned();
                self.migrations = Some((words.rest().to_owned(), style));
            }
            "root" => self.roots.push(words.rest().to_owned()),
            "no_flows_in" => self.no_flows_in.push(words.rest().to_owned()),
            "drafts" => {
                let place = words.next()?.to_owned();
                let after = match words.next() {
                    None => None,
                    Some("after") => Some(words.next()?.to_owned()),
                    Some(_) => return None,
                };
                self.drafts = Some(DraftsAfter { place, after });
            }
            "retired" => drop(self.retired.insert(words.next()?.to_owned())),
            "dropped" => {
                let flow = words.next()?.to_owned();
                words.skip("by")?;
                self.dropped.push((flow, words.next()?.to_owned()));
            }
            "flow" => self.versions.push(flow(&mut words)?),
            "migration" => {
                let flow = self.versions.last_mut()?;
                words.next()?.clone_into(&mut flow.migration);
                words.skip("sha256")?;
                words.next()?.clone_into(&mut flow.checksum);
            }
            "step" => self.versions.last_mut()?.shape.steps.push(step(&mut words)?),
            _ => return None,
        }
        Some(())
    }
}

fn flow(words: &mut Words<'_>) -> Option<LockedVersion> {
    let mut shape = FlowShape::new(words.next()?);
    let version = words.next()?.strip_prefix('v')?.parse().ok()?;
    while let Some(name) = words.key() {
        match name {
            "format" => shape.format = words.next()?.parse().ok()?,
            option => set_option(&mut shape.options, option, words)?,
        }
    }
    shape.input_type = words.ty()?;
    Some(LockedVersion { version, migration: String::new(), checksum: String::new(), shape })
}

fn step(words: &mut Words<'_>) -> Option<StepShape> {
    let mut step = StepShape::new(words.next()?);
    if words.peek() == Some("map") {
        words.next();
        step = step.map();
    }
    if words.peek() == Some("<-") {
        words.next();
        step.depends_on = words.list()?;
    }
    while let Some(name) = words.key() {
        match name {
            "only_if" => step.only_if = Some(words.pattern()?),
            "unless" => step.unless = Some(words.pattern()?),
            "when_unmet" => step.when_unmet = mode(words)?,
            "when_exhausted" => step.when_exhausted = mode(words)?,
            "was" => step.was = Some(words.next()?.to_owned()),
            option => set_option(&mut step.options, option, words)?,
        }
    }
    step.output_type = words.ty()?;
    Some(step)
}

fn set_option(options: &mut StepOptions, name: &str, words: &mut Words<'_>) -> Option<()> {
    *options.get_mut(name)? = Some(words.next()?.parse().ok()?);
    Some(())
}

fn mode(words: &mut Words<'_>) -> Option<OnSkip> {
    let word = words.next()?;
    OnSkip::ALL.into_iter().find(|mode| mode.keyword() == word)
}

impl<'a> Words<'a> {
    fn peek(&self) -> Option<&'a str> {
        Words(self.0).next()
    }

    /// The type that may end a line; none if something else does.
    #[expect(
        clippy::option_option,
        reason = "a line without a type is not a line that cannot be read"
    )]
    fn ty(&mut self) -> Option<Option<String>> {
        match self.next() {
            None => Some(None),
            Some(":") => Some(Some(self.rest().to_owned())),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Lock;

    #[test]
    fn says_which_line_it_cannot_read() {
        for text in [
            "flow orders v1\n<<<<<<< HEAD\n",
            "flow orders v1\n  step a retries=3\n",
            "flow orders v1\n  step a only_if=[1]\n",
            "# no flow\n  step a\n",
            "# no number\nflow orders 1\n",
            "flow orders v1\n  step b <- a,\n",
        ] {
            let error = text.parse::<Lock>().expect_err(text);
            assert_eq!(error.line, 2, "{text}");
            assert_eq!(error.to_string().contains("merge conflict"), text.contains("<<<"));
        }
    }
}

//! `cargo xtask mutants`: does every line that decides something have a test?

mod catalog;
mod error;
mod mutation;
mod report;
mod subject;
mod test_run;
mod workplace;

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;

use error::Error;
use mutation::Mutation;
use report::{Fate, Line};
use subject::Subject;
use test_run::Tests;
use workplace::Workplace;

/// How many mutations of each subject `--short` takes from its list.
const SHORT: usize = 3;

/// Each mutation changes one place of a copy of the SQL core, or of `pgflow-machine`. The tests named with it run first,
/// then, if they notice nothing, all tests of it. A mutant that survives fails the command.
#[derive(Args)]
pub(crate) struct Options {
    /// A handful of mutations spread over the lists and their named tests only, for CI.
    #[arg(long)]
    short: bool,

    /// Run only the tests named with each mutation: a mutant that they miss has survived.
    #[arg(long)]
    named: bool,

    /// Only mutations of this.
    #[arg(long, value_name = "WHAT")]
    of: Option<Subject>,

    /// Only the mutations of this name; a trailing `*` stands for any ending.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Say what there is and stop.
    #[arg(long)]
    list: bool,

    /// Leave out tests whose name contains this, in every run.
    #[arg(long, value_name = "TEST")]
    skip: Vec<String>,

    /// Write the results to this file as well.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    check_names(options)?;
    let mut lines = Vec::new();
    for subject in options.of.map_or(Subject::ALL.to_vec(), |of| vec![of]) {
        let mutations = chosen(options, subject);
        if options.list {
            mutations.iter().for_each(describe);
        } else if !mutations.is_empty() {
            lines.extend(examine_subject(options, subject, &mutations)?);
        }
    }
    if options.list {
        return Ok(());
    }
    print!("{}", report::table(&lines));
    if let Some(path) = &options.json {
        report::write_json(path, &lines)?;
    }
    judge(&lines)
}

fn examine_subject(
    options: &Options,
    subject: Subject,
    mutations: &[Mutation],
) -> Result<Vec<Line>, Error> {
    let bench = Bench { subject, workplace: subject.workplace()?, options };
    for mutation in mutations {
        mutation.apply(&bench.root())?;
    }
    bench.baseline(mutations)?;
    bench.examine_all(mutations)
}

fn is_named(mutation: &Mutation, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => mutation.name.starts_with(start),
        None => mutation.name == wanted,
    }
}

fn check_names(options: &Options) -> Result<(), Error> {
    let all: Vec<_> = Subject::ALL.into_iter().flat_map(Subject::mutations).collect();
    for wanted in &options.only {
        if !all.iter().any(|mutation| is_named(mutation, wanted)) {
            return Err(Error::Unknown(wanted.clone()));
        }
    }
    Ok(())
}

fn chosen(options: &Options, subject: Subject) -> Vec<Mutation> {
    let all = subject.mutations();
    if !options.only.is_empty() {
        let is_wanted = |m: &Mutation| options.only.iter().any(|wanted| is_named(m, wanted));
        return all.into_iter().filter(is_wanted).collect();
    }
    let step = if options.short { all.len().div_ceil(SHORT) } else { 1 };
    all.into_iter().step_by(step).collect()
}

fn describe(mutation: &Mutation) {
    println!("{}  {}\n    {}", mutation.name, mutation.file, mutation.why);
}

/// A copy of a subject, and how it is looked at.
struct Bench<'o> {
    subject: Subject,
    workplace: Workplace,
    options: &'o Options,
}

impl Bench<'_> {
    fn root(&self) -> PathBuf {
        self.subject.root(&self.workplace.copy())
    }

    fn is_named_only(&self) -> bool {
        self.options.named || self.options.short
    }

    fn tests(&self) -> Result<Result<Tests, String>, Error> {
        self.subject.tests(&self.workplace, &self.options.skip)
    }

    /// The tests pass on the copy as it is; only the named ones if not all mutations are examined.
    fn baseline(&self, mutations: &[Mutation]) -> Result<(), Error> {
        let tests = self.tests()?.map_err(Error::Baseline)?;
        check_filters(&tests.list()?, mutations)?;
        let only_named = self.is_named_only() || !self.options.only.is_empty();
        let mut filters: Vec<&str> =
            mutations.iter().flat_map(|m| m.tests.iter().copied()).collect();
        filters.sort_unstable();
        filters.dedup();
        announce("as it is");
        let start = Instant::now();
        let verdict = tests.run(if only_named { &filters } else { &[] })?;
        println!("{} tests, {:.1} s", verdict.tests, start.elapsed().as_secs_f64());
        if verdict.hangs || !verdict.failed.is_empty() {
            return Err(Error::Baseline(verdict.failed.join(", ")));
        }
        Ok(())
    }

    fn examine_all(&self, mutations: &[Mutation]) -> Result<Vec<Line>, Error> {
        let mut lines = Vec::new();
        for (n, mutation) in mutations.iter().enumerate() {
            announce(&format!("{}/{} {}", n + 1, mutations.len(), mutation.name));
            let line = Workplace::mutated(&self.root(), mutation, || self.examine(mutation))?;
            println!("{} by {}, {:.1} s", line.fate.words(), line.by(), line.seconds);
            lines.push(line);
        }
        Ok(lines)
    }

    /// First the tests that are there for it, then, unless only those are wanted, all.
    fn examine(&self, mutation: &Mutation) -> Result<Line, Error> {
        let start = Instant::now();
        let invalid = |output| Error::Invalid { name: mutation.name, output };
        let tests = self.tests()?.map_err(invalid)?;
        let mut fate = Fate::Caught;
        let mut failed = failures(&tests, mutation, mutation.tests)?;
        if failed.is_empty() && !self.is_named_only() {
            fate = Fate::CaughtElsewhere;
            failed = failures(&tests, mutation, &[])?;
        }
        if failed.is_empty() {
            fate = Fate::Survived;
        }
        let seconds = start.elapsed().as_secs_f64();
        Ok(Line { mutation: *mutation, fate, caught_by: failed, seconds })
    }
}

/// A filter that matches nothing would be a test that cannot fail.
fn check_filters(tests: &str, mutations: &[Mutation]) -> Result<(), Error> {
    for mutation in mutations {
        for filter in mutation.tests {
            if !tests.contains(filter) {
                return Err(Error::NoTest { name: mutation.name, filter });
            }
        }
    }
    Ok(())
}

fn failures(tests: &Tests, mutation: &Mutation, filters: &[&str]) -> Result<Vec<String>, Error> {
    let verdict = tests.run(filters)?;
    if let Some(output) = verdict.broken {
        return Err(Error::Invalid { name: mutation.name, output });
    }
    let hang = verdict.hangs.then(|| "a test that hangs".to_owned());
    Ok(verdict.failed.into_iter().chain(hang).collect())
}

fn judge(lines: &[Line]) -> Result<(), Error> {
    let survivors = lines.iter().filter(|line| line.fate == Fate::Survived);
    let names: Vec<_> = survivors.map(|line| line.mutation.name).collect();
    if names.is_empty() { Ok(()) } else { Err(Error::Survivors { names, of: lines.len() }) }
}

/// The beginning of a line that is finished when the result is there.
fn announce(what: &str) {
    print!("{what} ... ");
    let _ = std::io::stdout().flush();
}

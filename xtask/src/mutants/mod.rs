//! `cargo xtask mutants`: does every line of the SQL core that matters have a test?

mod build;
mod catalog;
mod error;
mod mutation;
mod report;
mod test_run;
mod workplace;

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;

use error::Error;
use mutation::Mutation;
use report::{Fate, Line};
use test_run::Tests;
use workplace::Workplace;

/// How many mutations `--short` takes from the list.
const SHORT: usize = 5;

/// Each mutation changes one place of a copy of the SQL core. The tests named with it run first,
/// then, if they notice nothing, all SQL tests. A mutant that survives fails the command.
#[derive(Args)]
pub(crate) struct Options {
    /// A handful of mutations spread over the list and their named tests only, for CI.
    #[arg(long)]
    short: bool,

    /// Run only the tests named with each mutation: a mutant that they miss has survived.
    #[arg(long)]
    named: bool,

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
    let mutations = chosen(options)?;
    if options.list {
        mutations.iter().for_each(describe);
        return Ok(());
    }
    let workplace = Workplace::new()?;
    for mutation in &mutations {
        mutation.apply(&workplace.core())?;
    }
    let tests = Tests {
        binary: workplace.keep_binary(&build::sql_tests()?)?,
        core: workplace.core(),
        log: workplace.log(),
        skip: options.skip.clone(),
    };
    check_filters(&tests.list()?, &mutations)?;
    let named = options.named || options.short;
    baseline(&tests, &mutations, named || !options.only.is_empty())?;
    let lines = examine_all(&workplace, &mutations, |mutation| examine(&tests, mutation, named))?;
    print!("{}", report::table(&lines));
    if let Some(path) = &options.json {
        report::write_json(path, &lines)?;
    }
    judge(&lines)
}

fn chosen(options: &Options) -> Result<Vec<Mutation>, Error> {
    let all: Vec<Mutation> = catalog::all().collect();
    let is = |mutation: &Mutation, wanted: &str| match wanted.strip_suffix('*') {
        Some(start) => mutation.name.starts_with(start),
        None => mutation.name == wanted,
    };
    for wanted in &options.only {
        if !all.iter().any(|mutation| is(mutation, wanted)) {
            return Err(Error::Unknown(wanted.clone()));
        }
    }
    if !options.only.is_empty() {
        let is_wanted = |m: &Mutation| options.only.iter().any(|wanted| is(m, wanted));
        return Ok(all.into_iter().filter(is_wanted).collect());
    }
    let step = if options.short { all.len().div_ceil(SHORT) } else { 1 };
    Ok(all.into_iter().step_by(step).collect())
}

fn describe(mutation: &Mutation) {
    println!("{}  {}\n    {}", mutation.name, mutation.file, mutation.why);
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

/// The tests pass on the core as it is; only the named ones if not all mutations are examined.
fn baseline(tests: &Tests, mutations: &[Mutation], only_named: bool) -> Result<(), Error> {
    let mut filters: Vec<&str> = mutations.iter().flat_map(|m| m.tests.iter().copied()).collect();
    filters.sort_unstable();
    filters.dedup();
    announce("the core as it is");
    let start = Instant::now();
    let verdict = tests.run(if only_named { &filters } else { &[] })?;
    println!("{} tests, {:.1} s", verdict.tests, start.elapsed().as_secs_f64());
    if verdict.hangs || !verdict.failed.is_empty() {
        return Err(Error::Baseline(verdict.failed.join(", ")));
    }
    Ok(())
}

fn examine_all(
    workplace: &Workplace,
    mutations: &[Mutation],
    examine: impl Fn(&Mutation) -> Result<Line, Error>,
) -> Result<Vec<Line>, Error> {
    let mut lines = Vec::new();
    for (n, mutation) in mutations.iter().enumerate() {
        announce(&format!("{}/{} {}", n + 1, mutations.len(), mutation.name));
        let line = workplace.mutated(mutation, || examine(mutation))?;
        println!("{} by {}, {:.1} s", line.fate.words(), line.by(), line.seconds);
        lines.push(line);
    }
    Ok(lines)
}

/// First the tests that are there for it, then, unless `named`, all.
fn examine(tests: &Tests, mutation: &Mutation, named: bool) -> Result<Line, Error> {
    let start = Instant::now();
    let mut fate = Fate::Caught;
    let mut failed = failures(tests, mutation, mutation.tests)?;
    if failed.is_empty() && !named {
        fate = Fate::CaughtElsewhere;
        failed = failures(tests, mutation, &[])?;
    }
    if failed.is_empty() {
        fate = Fate::Survived;
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(Line { mutation: *mutation, fate, caught_by: failed, seconds })
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

//! The command line.

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use serde::Serialize;

use crate::size::{Mode, Sizes};
use crate::target::NATIVE;

const EXAMPLES: &str = "\
Examples:
  pgflow-bench                          a server of its own with fsync on, about ten minutes
  pgflow-bench --short                  the same in a minute, for CI
  pgflow-bench --case diamond --case map
  pgflow-bench --case worker            only what goes through a worker, on Postgres, SQLite and MariaDB
  pgflow-bench --database postgres://postgres@localhost/postgres
  pgflow-bench --database sqlite:bench.db   workers on a SQLite file of this name
  pgflow-bench --database mysql://root@localhost   workers on a MySQL or MariaDB server
  pgflow-bench --other old=postgres://postgres@localhost/old_core
                                        two cores side by side, round by round

Figures from a busy machine mean little by themselves: read the columns that
divide by the INSERT control, and the CPU per task.";

/// Measure pgflow: its SQL core (rates, server CPU and WAL per task) and its workers
/// (rates and latencies, on Postgres, SQLite and MariaDB), beside plain controls (INSERT,
/// UPDATE, raw pgmq) on the same server in the same run.
#[derive(Debug, Clone, Parser)]
#[command(name = "pgflow-bench", version, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Measure on this server instead of one of our own; a database is made for it. Or
    /// sqlite:FILE: workers only, on a file that must not exist and is removed afterwards.
    /// <mysql://…>: workers only, on a database that is made and dropped
    #[arg(long, value_name = "URL", env = "PGFLOW_BENCH_DATABASE", hide_env_values = true)]
    pub(crate) database: Option<String>,

    /// Use the database of `--database` itself instead of making one there
    #[arg(long, requires = "database")]
    pub(crate) in_place: bool,

    /// Install the SQL of this directory instead of the core that is built in
    #[arg(long, value_name = "DIR")]
    pub(crate) core: Option<PathBuf>,

    /// Major version of the server that is started, 14 to 18 [default: the one installed]
    #[arg(long, value_name = "N", conflicts_with = "database")]
    pub(crate) major: Option<u32>,

    /// Measure another core as well: a database that has one, or a directory of SQL (repeatable)
    #[arg(long, value_name = "[NAME=]URL|DIR")]
    pub(crate) other: Vec<Other>,

    /// Drive every core this way only [default: what each core offers]
    #[arg(long, value_enum)]
    pub(crate) protocol: Option<Protocol>,

    /// Run only cases whose name starts with this (repeatable)
    #[arg(long = "case", value_name = "NAME")]
    pub(crate) cases: Vec<String>,

    /// List the cases and stop
    #[arg(long)]
    pub(crate) list: bool,

    #[command(flatten)]
    pub(crate) size: Size,

    /// Times that each case runs; medians are shown [default: by size]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: Option<u32>,

    /// Connections that work at the same time
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) connections: u32,

    /// Tasks per claim and settle when driven in batches
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: u32,

    /// Tasks that a worker runs at once
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = at_least_one)]
    pub(crate) concurrency: usize,

    /// The same in the map case, where a worker takes as many as it runs at a time
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) map_batch: u32,

    /// Seed of the values in inputs and outputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Write every round and the summary to FILE (`-` for standard output, without the tables)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Exit with status 2 when a target is missed
    #[arg(long)]
    pub(crate) strict: bool,
}

impl Args {
    /// How much of everything the core's cases do.
    pub(crate) fn sizes(&self) -> Sizes {
        let sizes = self.size.mode().sizes();
        Sizes { rounds: self.rounds.unwrap_or(sizes.rounds), ..sizes }
    }

    /// The URL of a SQLite file, if that is what to measure on.
    pub(crate) fn sqlite(&self) -> Option<&str> {
        self.database.as_deref().filter(|url| begins(url, &["sqlite:", "file:"]))
    }

    /// The URL of a MySQL or MariaDB server, if that is what to measure on.
    pub(crate) fn mysql(&self) -> Option<&str> {
        self.database.as_deref().filter(|url| begins(url, &["mysql:", "mariadb:"]))
    }

    /// Whether only workers can be measured there: the other cases are about the SQL core.
    pub(crate) fn is_for_workers(&self) -> bool {
        self.sqlite().or(self.mysql()).is_some()
    }
}

fn begins(url: &str, schemes: &[&str]) -> bool {
    schemes.iter().any(|scheme| url.starts_with(scheme))
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("a worker runs at least one task at a time".to_owned()),
        other => other.map_err(|error| error.to_string()),
    }
}

/// How big everything is.
#[derive(Debug, Clone, clap::Args)]
#[group(multiple = false)]
pub(crate) struct Size {
    /// Tiny sizes, only to see that everything works
    #[arg(long)]
    smoke: bool,

    /// Small sizes, about a minute
    #[arg(long)]
    short: bool,

    /// A million finished runs and a map of 100,000; the better part of an hour
    #[arg(long)]
    long: bool,
}

impl Size {
    pub(crate) fn mode(&self) -> Mode {
        match (self.smoke, self.short, self.long) {
            (true, ..) => Mode::Smoke,
            (_, true, _) => Mode::Short,
            (.., true) => Mode::Long,
            _ => Mode::Normal,
        }
    }
}

/// How tasks are taken and settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Protocol {
    /// `claim_tasks` and `complete_tasks`: one call per batch each
    Batched,
    /// `read_with_poll` and `start_tasks` for ten at a time, then `complete_task` one by one
    Published,
}

impl Protocol {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Batched => "batched",
            Self::Published => "published",
        }
    }
}

/// Another core to compare with.
#[derive(Debug, Clone)]
pub(crate) struct Other {
    pub(crate) name: String,
    pub(crate) source: Source,
}

/// Where another core is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A database that has it.
    Url(String),
    /// SQL files, installed beside ours.
    Directory(PathBuf),
}

impl std::str::FromStr for Other {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, place) = match text.split_once('=') {
            Some((name, place)) if !name.contains([':', '/']) => (name, place),
            _ => ("other", text),
        };
        if name.is_empty() || name == NATIVE {
            return Err(format!("another core cannot be called `{name}`"));
        }
        let source = match place {
            url if url.contains("://") => Source::Url(url.to_owned()),
            path if Path::new(path).is_dir() => Source::Directory(path.into()),
            _ => return Err("expected [NAME=]URL or [NAME=]DIRECTORY".to_owned()),
        };
        Ok(Self { name: name.to_owned(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_other_core_may_have_a_name() {
        let other: Other = "old=postgres://host/db".parse().unwrap();
        assert_eq!(
            (other.name.as_str(), other.source),
            ("old", Source::Url("postgres://host/db".to_owned()))
        );
    }

    #[test]
    fn an_equals_sign_in_the_url_is_not_a_name() {
        let other: Other = "postgres://host/db?sslmode=disable".parse().unwrap();
        assert_eq!(other.name, "other");
    }

    #[test]
    fn another_core_may_be_a_directory() {
        let other: Other = "here=.".parse().unwrap();
        assert_eq!(other.source, Source::Directory(".".into()));
        assert!("nowhere=./no/such/directory".parse::<Other>().is_err());
    }

    #[test]
    fn sizes_exclude_each_other() {
        assert!(Args::try_parse_from(["pgflow-bench", "--short", "--long"]).is_err());
        assert!(Args::try_parse_from(["pgflow-bench", "--concurrency", "0"]).is_err());
    }
}

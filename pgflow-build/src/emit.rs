//! What a build script does and prints.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::embed;
use crate::error::Error;
use crate::mode::{Mode, READ_ONLY, Surroundings, VARIABLE};
use crate::plan::Plan;
use crate::settings::Migrations;
use crate::source::{Comparison, FoundFlow};
use crate::{notes, watch, write};

impl Migrations {
    /// For a build script: writes the migrations that are missing, or says which are.
    ///
    /// In a checkout it writes. It only compares when `CI` is set, when cargo unpacked the source
    /// from a package, and when the crate cannot be written to; `PGFLOW_MIGRATIONS` decides
    /// otherwise, as `write`, `check` or `off`. All migrations also go to `OUT_DIR`, for
    /// `pgflow::migrations!()`.
    ///
    /// What is wrong with a flow itself is left to the macro, which can underline it.
    ///
    /// # Panics
    ///
    /// Outside a build script.
    pub fn emit(&self) {
        let out_dir = std::env::var_os("OUT_DIR").expect("only a build script can call `emit`");
        let (out_dir, package) = (Path::new(&out_dir), std::env::var("CARGO_PKG_NAME"));
        let notes = package.ok().and_then(|package| notes::file(out_dir, &package));
        for line in self.clone().with_notes(notes).report(out_dir) {
            println!("{line}");
        }
    }

    /// The lines for cargo.
    fn report(&self, out_dir: &Path) -> Vec<String> {
        let mut lines = vec![
            format!("cargo::rerun-if-env-changed={VARIABLE}"),
            "cargo::rerun-if-env-changed=CI".to_owned(),
        ];
        let _alone = write::alone(&self.dir);
        match self.run(out_dir, &mut lines) {
            // The macro says so at every flow, and there is nothing to say without one.
            Ok(()) | Err(Error::Lock(_)) => {}
            Err(error) => say(&mut lines, "error", &pgflow_model::with_causes(&error)),
        }
        // A new file in `src/bin` is a new target.
        let others = ["Cargo.toml", "src/bin"].map(|path| self.dir.join(path));
        for path in [self.lock_path(), self.migrations_dir()].into_iter().chain(others) {
            if path.exists() {
                lines.push(self.watched(&path));
            }
        }
        lines
    }

    fn run(&self, out_dir: &Path, lines: &mut Vec<String>) -> Result<(), Error> {
        let plan = self.plan()?;
        let sources: BTreeSet<_> =
            plan.sources.iter().map(|path| watch::existing(&self.dir, path)).collect();
        lines.extend(sources.iter().map(|path| self.watched(path)));
        for (place, why) in &plan.unseen {
            say(lines, "warning", &format!("{place}: {why}"));
        }
        if let Some(why) = &plan.late_core {
            say(lines, "warning", why);
        }
        for told in plan.gone_told() {
            say(lines, "warning", &told);
        }
        match self.mode() {
            Err(why) => say(lines, "error", &why),
            Ok(Mode::Off) => {}
            Ok(Mode::Check(why)) => report_missing(&plan, why, lines),
            Ok(Mode::Write) => self.write_missing(&plan, out_dir, lines)?,
        }
        match embed::write(&plan, out_dir, self.notes()) {
            // That was said already, and the build ends with it.
            Err(Error::Foreign { .. }) if !plan.problems.is_empty() => Ok(()),
            done => done,
        }
    }

    fn mode(&self) -> Result<Mode, String> {
        let variable = |name: &str| std::env::var(name).ok();
        let surroundings = Surroundings {
            dir: &self.dir,
            migrations: &self.migrations_dir(),
            variable: variable(VARIABLE),
            ci: variable("CI"),
            is_check_only: self.is_check_only,
        };
        surroundings.mode()
    }

    fn write_missing(
        &self,
        plan: &Plan,
        out_dir: &Path,
        lines: &mut Vec<String>,
    ) -> Result<(), Error> {
        if !plan.problems.is_empty() {
            report_problems(plan, lines);
            report_pause(plan, lines);
            return Ok(());
        }
        let written = match self.write(plan) {
            Err(error) if error.is_read_only() => {
                report_missing(plan, READ_ONLY, lines);
                return Ok(());
            }
            written => written?,
        };
        for name in &plan.superseded {
            say(
                lines,
                "warning",
                &format!("{name} was never committed and is not wanted any more: removed"),
            );
        }
        for path in &written {
            // Cargo repeats this until the script runs again, so it is true for longer than now.
            let what = if *path == self.lock_path() { "has changed" } else { "is new" };
            let path = path.strip_prefix(&self.dir).unwrap_or(path).display();
            say(lines, "warning", &format!("{path} {what}: commit it"));
        }
        write::backdate(out_dir, written.into_iter().chain([self.migrations_dir()]));
        Ok(())
    }

    fn watched(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.dir).unwrap_or(path);
        format!("cargo::rerun-if-changed={}", PathBuf::from(path).display())
    }
}

/// The macro cannot tell a flow without a migration from one in a test, and reports all other
/// differences itself.
fn report_missing(plan: &Plan, why: &str, lines: &mut Vec<String>) {
    report_problems(plan, lines);
    if !plan.is_up_to_date() {
        say(lines, "warning", &format!("migrations are compared and not written, because {why}"));
    }
    let is_new = |flow: &&FoundFlow| {
        matches!(flow.comparison, Comparison::New) && !plan.outdated.contains(&flow.shape.slug)
    };
    for flow in plan.flows.iter().filter(is_new) {
        let (place, slug) = (&flow.place, &flow.shape.slug);
        let text = format!(
            "{place}: flow `{slug}` has no migration\nhelp: run `cargo pgflow migrate` to write one"
        );
        say(lines, "error", &text);
    }
}

/// Why nothing is written, where only the compiler reports the reason, and might not: it may know more
/// Rust than the parser that is used here.
fn report_pause(plan: &Plan, lines: &mut Vec<String>) {
    if let Some(problem) = plan.problems.iter().find(|problem| problem.is_of_parser)
        && !plan.is_up_to_date()
    {
        say(lines, "warning", &format!("{problem}\nnote: no migration is written meanwhile"));
    }
}

fn report_problems(plan: &Plan, lines: &mut Vec<String>) {
    for problem in plan.problems.iter().filter(|problem| !problem.is_reported_by_compiler) {
        say(lines, "error", &problem.to_string());
    }
}

/// A message of several lines takes several of cargo's.
fn say(lines: &mut Vec<String>, level: &str, text: &str) {
    lines.extend(text.lines().map(|line| format!("cargo::{level}={line}")));
}

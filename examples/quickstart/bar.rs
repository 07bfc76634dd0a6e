//! How far the map is: a bar on a terminal, and a line every quarter elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use pgflow::client::Happened;

use super::flow::analyze_website::check_link;
use super::show::line;

/// As wide as the bar that moves.
const WIDTH: usize = 32;

/// The bar of the map. It is not there before the map has tasks, and a full line stays when it has ended.
pub(crate) struct MapBar {
    bar: Option<ProgressBar>,
    tasks: u32,
    quarters: u32,
}

impl MapBar {
    pub(crate) fn new() -> Self {
        Self { bar: None, tasks: 0, quarters: 0 }
    }

    /// Begins and ends with the map.
    pub(crate) fn note(&mut self, what: &Happened) {
        match what {
            Happened::StepStarted { step, tasks } if is_the_map(step) => self.begin(*tasks),
            Happened::StepCompleted { step, .. } if is_the_map(step) => self.end(),
            _ => {}
        }
    }

    fn begin(&mut self, tasks: u32) {
        self.tasks = tasks;
        if std::io::stderr().is_terminal() && std::io::stdout().is_terminal() {
            let style = ProgressStyle::with_template("         check_link {bar:32} {pos}/{len}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(tasks.into()).with_style(style);
            bar.enable_steady_tick(Duration::from_millis(200));
            self.bar = Some(bar);
        }
    }

    /// So many tasks are done.
    pub(crate) fn at(&mut self, done: u32) {
        if let Some(bar) = &self.bar {
            bar.set_position(done.into());
            return;
        }
        let quarters = done * 4 / self.tasks.max(1);
        if self.tasks > 0 && quarters > self.quarters && self.quarters < 4 {
            line(format_args!("         check_link {done}/{}", self.tasks));
            self.quarters = quarters;
        }
    }

    fn end(&mut self) {
        let Some(bar) = self.bar.take() else { return self.at(self.tasks) };
        bar.finish_and_clear();
        line(format_args!(
            "         check_link {} {tasks}/{tasks}",
            "█".repeat(WIDTH),
            tasks = self.tasks
        ));
        self.quarters = 4;
    }

    /// Lets something else be printed.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

fn is_the_map(step: &str) -> bool {
    step == <check_link as pgflow::Step>::SLUG
}

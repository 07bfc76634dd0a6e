//! What happens, on the terminal.

use std::error::Error;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use pgflow::{
    Db, Run,
    client::{Event, Happened, StepProgress},
};

use super::Outcome;
use super::bar::MapBar;
use super::flow::analyze_website::{self, check_link};

type WebsiteRun = Run<analyze_website::Flow>;

/// Shows a run until it has ended, and calls `on_map` with how far the map is.
pub(crate) async fn run(
    run: &WebsiteRun,
    mut on_map: impl FnMut(&StepProgress) -> Outcome,
) -> Outcome {
    let (since, mut bar) = (Instant::now(), MapBar::new());
    let mut events = run.events();
    let mut tick = tokio::time::interval(Duration::from_millis(100));
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(event) => {
                    let event = event?;
                    bar.note(&event.what);
                    bar.suspend(|| tell(&since, &event));
                }
                None => return Ok(()),
            },
            _ = tick.tick() => {
                let Some(map) = map_of(run).await? else { continue };
                bar.at(map.done);
                bar.suspend(|| on_map(&map))?;
            }
        }
    }
}

/// The map, once it has tasks.
async fn map_of(run: &WebsiteRun) -> Outcome<Option<StepProgress>> {
    let steps = run.progress().await?;
    let map = steps.into_iter().find(|step| step.step == <check_link as pgflow::Step>::SLUG);
    Ok(map.filter(|map| map.tasks.is_some()))
}

fn tell(since: &Instant, event: &Event) {
    let text = match &event.what {
        Happened::StepStarted { step, tasks: 1 } => format!("{step} started"),
        Happened::StepStarted { step, tasks } => format!("{step} started, {tasks} tasks"),
        Happened::StepCompleted { step, .. } => format!("{step} completed"),
        Happened::RunFailed { error } => {
            format!("the run failed: {}", error.as_deref().unwrap_or("see its step"))
        }
        other => other.to_string(),
    };
    line(format_args!("{:6.2} s {text}", since.elapsed().as_secs_f64()));
}

/// A line about what the program itself does.
pub(crate) fn say(text: &str) {
    line(format_args!("      >> {text}"));
}

/// A line on the terminal. If nobody reads it any more, as after `quickstart | head`, there is nothing left to do.
pub(crate) fn line(text: impl Display) {
    if writeln!(std::io::stdout(), "{text}").is_err() {
        std::process::exit(0);
    }
}

/// What the run ended with.
pub(crate) async fn output(run: &WebsiteRun) -> Outcome {
    line(format_args!("\noutput    {:#?}", run.output().await?.report));
    Ok(())
}

/// What to try next.
pub(crate) fn hint(db: &Db, has_crashed: bool) {
    let next = if has_crashed {
        "  cargo run --example quickstart -- --database postgres://localhost/postgres"
    } else {
        "  cargo run --example quickstart -- --crash     # kill -9 the worker in the middle"
    };
    line(format_args!("\nnext:\n{next}"));
    if let Some(file) = db.to_string().strip_prefix("sqlite:").filter(|file| !file.contains(':')) {
        line(format_args!("  rm {file}*     # forget all runs"));
    }
    line("  examples/quickstart/flow.rs is the flow: change what a step returns, and compile");
}

/// After Ctrl-C.
pub(crate) fn interrupted(db: &Db, run: &WebsiteRun) {
    line(format_args!("\nstopped in the middle of run {}", run.id()));
    line(if db.backend().abilities().multi_process {
        "nothing is lost: start me again, and my worker finishes it beside the new run"
    } else {
        "it was kept in memory, and is gone; without `--database memory:` it would go on when you start me again"
    });
}

/// An error with what caused it.
pub(crate) fn error(error: &(dyn Error + 'static)) {
    let red = std::io::stderr().is_terminal();
    eprintln!(
        "{}error: {error}{}",
        if red { "\x1b[31m" } else { "" },
        if red { "\x1b[0m" } else { "" }
    );
    let mut source = error.source();
    while let Some(cause) = source {
        eprintln!("  because {cause}");
        source = cause.source();
    }
}

//! What happens, on the terminal.

use std::error::Error;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use pgflow::{Event, Happened, Run, StepProgress};

use super::Outcome;
use super::flow::analyze_website::{self, check_link};

type WebsiteRun = Run<analyze_website::Flow>;

/// Shows a run until it has ended, and calls `on_map` with how far the map is.
pub(crate) async fn run(
    run: &WebsiteRun,
    mut on_map: impl FnMut(&StepProgress) -> Outcome,
) -> Outcome {
    let (since, bar) = (Instant::now(), bar());
    let mut events = run.events();
    let mut tick = tokio::time::interval(Duration::from_millis(100));
    let mut printed = 0;
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(event) => bar.suspend(|| tell(&since, event.as_ref()))?,
                None => break,
            },
            _ = tick.tick() => {
                let Some(map) = map_of(run).await? else { continue };
                bar.set_length(map.tasks.unwrap_or(0).into());
                bar.set_position(map.done.into());
                printed = lines(&bar, &map, printed);
                bar.suspend(|| on_map(&map))?;
            }
        }
    }
    bar.finish_and_clear();
    Ok(())
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("         check_link {bar:32} {pos}/{len}");
    let bar =
        ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The map, once it has tasks and until it has ended.
async fn map_of(run: &WebsiteRun) -> Outcome<Option<StepProgress>> {
    let steps = run.progress().await?;
    let map = steps.into_iter().find(|step| step.step == <check_link as pgflow::Step>::SLUG);
    Ok(map.filter(|map| map.tasks.is_some()))
}

/// Without a terminal, the bar is a line every quarter.
fn lines(bar: &ProgressBar, map: &StepProgress, printed: u32) -> u32 {
    let quarter = map.done * 4 / map.tasks.unwrap_or(1).max(1);
    if bar.is_hidden() && quarter > printed {
        println!("         check_link {}/{}", map.done, map.tasks.unwrap_or(0));
    }
    quarter.max(printed)
}

fn tell(since: &Instant, event: std::result::Result<&Event, &pgflow::ClientError>) -> Outcome {
    let event = event.map_err(ToString::to_string)?;
    let text = match &event.what {
        Happened::StepStarted { step, tasks: 1 } => format!("{step} started"),
        Happened::StepStarted { step, tasks } => format!("{step} started, {tasks} tasks"),
        Happened::StepCompleted { step, .. } => format!("{step} completed"),
        Happened::RunFailed { error } => {
            format!("the run failed: {}", error.as_deref().unwrap_or("see its step"))
        }
        other => other.to_string(),
    };
    println!("{:6.2} s {text}", since.elapsed().as_secs_f64());
    Ok(())
}

/// A line about what the program itself does.
pub(crate) fn say(text: &str) {
    println!("      >> {text}");
}

/// What the run ended with.
pub(crate) async fn output(run: &WebsiteRun) -> Outcome {
    println!("\noutput    {:#?}", run.output().await?.report);
    Ok(())
}

/// What to try next.
pub(crate) fn hint(database: &str, has_crashed: bool) {
    let next = if has_crashed {
        "  cargo run --example quickstart -- --database postgres://localhost/postgres"
    } else {
        "  cargo run --example quickstart -- --crash     # kill -9 the worker in the middle"
    };
    println!("\nnext:\n{next}");
    if let Some(file) = database.strip_prefix("sqlite:") {
        println!("  rm {file}*     # forget all runs");
    }
    println!("  examples/quickstart/flow.rs is the flow: change what a step returns, and compile");
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

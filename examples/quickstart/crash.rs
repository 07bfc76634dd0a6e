//! A worker that is killed in the middle, and another one that goes on.

use std::process::{Child, Command, Stdio};

use pgflow::prelude::*;
use pgflow::{Run, client::StepProgress};

use super::flow::analyze_website;
use super::{Outcome, show};

/// Whether another process could go on, before anything is started.
pub(crate) fn check(db: &Db) -> Outcome {
    if db.backend().abilities().multi_process {
        return Ok(());
    }
    Err(format!("`--crash` needs a database that other processes can use, not {db}").into())
}

/// Follows a run whose worker is killed when a third of the map is done.
pub(crate) async fn run(url: &str, run: &Run<analyze_website::Flow>) -> Outcome {
    let mut worker = spawn(url)?;
    show::say(&format!("worker {} works", worker.id()));
    let mut was_killed = false;
    show::run(run, |map| {
        if was_killed || !is_under_way(map) {
            return Ok(());
        }
        was_killed = true;
        worker.kill()?; // SIGKILL: it cannot even say goodbye.
        worker.wait()?;
        show::say(&format!("worker {} was killed with tasks in its hands", worker.id()));
        worker = spawn(url)?;
        show::say(&format!(
            "worker {} takes over; the tasks follow when their leases end",
            worker.id()
        ));
        Ok(())
    })
    .await?;
    drop(worker.stdin.take());
    worker.wait()?;
    Ok(())
}

fn is_under_way(map: &StepProgress) -> bool {
    map.tasks.is_some_and(|tasks| map.done * 3 >= tasks && map.done < tasks)
}

/// A worker in a process of its own: this program again.
fn spawn(url: &str) -> Outcome<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    let command = command.args(["--worker", "--database", url]);
    Ok(command.stdin(Stdio::piped()).spawn()?)
}

//! Answers that get lost after the commit.

use std::collections::BTreeMap;

use pgflow::{Run, RunStatus, client::Happened};

use crate::flows::{book, diamond};
use crate::harness::{Kind, Lab, Metrics, Outcome, What};
use crate::proxy::{Cut, Proxy};
use crate::{ensure, metrics};

/// X16: the answer to every third claim is cut, and most claims bring results along. On MariaDB those are
/// transactions, and the answer is that to their `COMMIT`.
pub(super) async fn of_claims(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, &["diamond"]).await?;
    let proxy = Proxy::start(&base.url).await?;
    let statement = if kind == Kind::MySql { "COMMIT" } else { "claim" };
    proxy.cut(Some(Cut { statement, every: 3 }));
    let worker = lab.worker(proxy.url(), &["diamond"]).start()?;
    let mut runs = Vec::new();
    for number in 0..lab.either(12, 200) {
        runs.push(base.db.start(diamond::Flow, &number).await?);
    }
    for (number, run) in (0..).zip(&runs) {
        ensure!(run.output().await?.end == 2 * number + 3, "run {} has another output", run.id());
        activated_once(run).await?;
    }
    let (attempts, handlers, cuts) = (attempts(lab)?, runs.len() * 4, proxy.cuts());
    ensure!(attempts.len() == handlers, "{} handlers ran", attempts.len());
    let repeated = attempts.values().filter(|times| **times > 1).count();
    ensure!(repeated == 0, "{repeated} handlers ran more than once");
    ensure!(cuts >= 3, "only {cuts} answers were cut");
    let (losses, given_back) = base.losses().await?;
    ensure!(losses == 0, "{losses} tasks waited for their lease");
    proxy.cut(None);
    let end = worker.stop().await?;
    ensure!((end.settled, end.lost) == (handlers as u64, 0), "the worker says {end:?}");
    Ok(metrics! {
        "runs": runs.len(), "cut_answers": cuts, "handlers": handlers, "repeated": 0,
        "losses": losses, "given_back": given_back,
    })
}

/// How often each step of each run began.
fn attempts(lab: &Lab) -> Outcome<BTreeMap<(String, String), u32>> {
    let mut attempts = BTreeMap::new();
    for entry in lab.journal.read()?.into_iter().filter(|entry| entry.what == What::Entered) {
        *attempts.entry((entry.run, entry.step)).or_default() += 1;
    }
    Ok(attempts)
}

async fn activated_once(run: &Run<diamond::Flow>) -> Outcome {
    let (mut events, mut started) = (run.events(), BTreeMap::<String, u32>::new());
    while let Some(event) = events.next().await {
        if let Happened::StepStarted { step, .. } = event?.what {
            *started.entry(step).or_default() += 1;
        }
    }
    ensure!(started.len() == 4 && started.values().all(|times| *times == 1), "{started:?}");
    Ok(())
}

/// X16-tx: the answer to every fifth commit of a step's own transaction is cut.
pub(super) async fn of_commits(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, &["book"]).await?;
    let proxy = Proxy::start(&base.url).await?;
    proxy.cut(Some(Cut { statement: "COMMIT", every: 5 }));
    let worker = lab.worker(proxy.url(), &["book"]).start()?;
    let items: Vec<u32> = (0..lab.either(60, 1000)).collect();
    let run = base.db.start(book::Flow, &items).await?;
    let status = run.wait().await?;
    ensure!(status == RunStatus::Completed, "the run has {status}");
    let effects = base.effects().await?;
    let written: Vec<u32> =
        effects.iter().filter_map(|(item, _)| u32::try_from(*item).ok()).collect();
    ensure!(written == items, "there are {} effects of {} tasks", effects.len(), items.len());
    ensure!(proxy.cuts() >= 3, "only {} answers were cut", proxy.cuts());
    proxy.cut(None);
    let (cuts, end) = (proxy.cuts(), worker.stop().await?);
    ensure!(end.lost == 0, "the worker says {end:?}");
    Ok(metrics! { "tasks": items.len(), "cut_commits": cuts, "duplicates": 0, "missing": 0 })
}

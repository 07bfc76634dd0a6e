//! Answers about jobs that get lost after the commit.

use std::collections::BTreeMap;

use super::{SLIPS, all_done, patient_base};
use crate::flows::slips;
use crate::harness::{Kind, Lab, Metrics, Outcome, What};
use crate::proxy::{Cut, Proxy};
use crate::{ensure, metrics};

/// X42: the answer to every third or every second trip, which settles and claims, is cut: on MariaDB that to every seventh or fifth `COMMIT`,
/// since what a lost claim took is given back by one more, and a claim that is cut each time never ends. Nothing is done twice, and no job
/// waits for its lease.
pub(in super::super) async fn of_jobs(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    let proxy = Proxy::start(&base.url).await?;
    let (statement, cut) = match kind {
        Kind::MySql => ("COMMIT", [7, 5]),
        Kind::Postgres | Kind::Sqlite => ("settle_and_claim_all", [3, 2]),
    };
    let (mut cuts, mut done) = (0, Vec::new());
    for every in cut {
        proxy.cut(Some(Cut { statement, every }));
        let worker = lab.worker(proxy.url(), SLIPS).start()?;
        let before = proxy.cuts();
        for _ in 0..lab.either(6, 60) {
            // In several trips, each of which may be cut.
            let jobs = base.db.submit_all::<slips::jot>(0..lab.either(5, 20)).await?;
            all_done(&jobs).await?;
            done.extend(jobs);
        }
        ensure!(proxy.cuts() - before >= 2, "only {} answers were cut", proxy.cuts() - before);
        cuts += proxy.cuts() - before;
        proxy.cut(None);
        let end = worker.stop().await?;
        ensure!(end.lost == 0, "the worker says {end:?}");
    }
    let mut began = BTreeMap::<String, u32>::new();
    for entry in lab.journal.read()?.into_iter().filter(|entry| entry.what == What::Entered) {
        *began.entry(entry.run).or_default() += 1;
    }
    let repeated = began.values().filter(|times| **times > 1).count();
    ensure!(repeated == 0, "{repeated} handlers ran more than once");
    for job in &done {
        let row = job.record().await?.summary.row;
        ensure!((row.lapses, row.attempts) == (0, 1), "job {} waited for its lease", job.id());
    }
    ensure!(began.len() == done.len(), "{} of {} handlers ran", began.len(), done.len());
    Ok(metrics! { "jobs": began.len(), "cut_answers": cuts, "repeated": 0, "lapsed": 0 })
}

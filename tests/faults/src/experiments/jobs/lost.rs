//! Answers about jobs that get lost after the commit.

use std::collections::BTreeMap;

use super::{SLIPS, all_done, patient_base};
use crate::flows::slips;
use crate::harness::{Kind, Lab, Metrics, Outcome, What};
use crate::proxy::{Cut, Proxy};
use crate::{ensure, metrics};

/// X42: the answer to every third or every second trip, which settles and claims, is cut. Nothing is done twice, and no job waits for its lease.
pub(in super::super) async fn of_jobs(lab: &mut Lab) -> Outcome<Metrics> {
    let base = patient_base(lab, Kind::Postgres).await?;
    let proxy = Proxy::start(&base.url).await?;
    let mut cuts = 0;
    for every in [3, 2] {
        proxy.cut(Some(Cut { statement: "settle_and_claim_all", every }));
        let worker = lab.worker(proxy.url(), SLIPS).start()?;
        let before = proxy.cuts();
        for _ in 0..lab.either(6, 60) {
            // In several trips, each of which may be cut.
            let jobs = base.db.submit_all::<slips::jot>(0..lab.either(5, 20)).await?;
            all_done(&jobs).await?;
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
    let lapsed = "select count(*) from pgflow.job_archive where lapses > 0 or attempts <> 1";
    let lapsed: i64 = sqlx::query_scalar(lapsed).fetch_one(base.postgres_pool()?).await?;
    ensure!(lapsed == 0, "{lapsed} jobs waited for their lease");
    Ok(metrics! { "jobs": began.len(), "cut_answers": cuts, "repeated": 0, "lapsed": 0 })
}

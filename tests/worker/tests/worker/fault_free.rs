//! Where nothing goes wrong, no attempt is done in vain.

use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome, everywhere};

const RUNS: u32 = 60;
const WIDTH: u32 = 4;

#[flow(slug = "fault_free", input = u32)]
mod plain {
    use super::*;

    #[step]
    pub(crate) async fn list(run: u32) -> Result<Vec<u32>> {
        Ok((run..run + WIDTH).collect())
    }

    #[step(map, depends_on = [list])]
    pub(crate) async fn double(item: u32) -> Result<u32> {
        Ok(item * 2)
    }

    #[step(depends_on = [double])]
    pub(crate) async fn sum(double: Vec<u32>) -> Result<u32> {
        Ok(double.iter().sum())
    }
}

everywhere!(every_attempt_counts);

async fn every_attempt_counts(fresh: Fresh) -> Outcome {
    let worker = fresh.work(plain::Flow).await?;
    let mut runs = Vec::new();
    for number in 0..RUNS {
        runs.push(fresh.db.start(plain::Flow, &number).await?);
    }
    for (number, run) in (0..RUNS).zip(&runs) {
        let sum = (number..number + WIDTH).map(|item| item * 2).sum::<u32>();
        assert_eq!(run.output().await?.sum, sum);
    }
    let report = worker.stop().await?;
    let tasks = u64::from(RUNS * (1 + WIDTH + 1));
    assert_eq!((report.settled, report.superseded, report.lost), (tasks, 0, 0), "{report}");
    Ok(())
}

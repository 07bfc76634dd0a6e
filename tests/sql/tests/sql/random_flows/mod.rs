//! Random flows, drained to their end and compared with a tiny model.

mod drive;
mod generate;
mod json;
mod model;
mod oracle;

use std::sync::Arc;

use self::drive::Worker;
use self::generate::flow;
use self::model::Flow;
use self::oracle::{Ending, foresee};
use crate::harness::{Db, Random, Run, long};

/// Defines flows and starts a run of each.
async fn start<'a>(
    db: &'a Db,
    random: &mut Random,
    count: usize,
) -> (Arc<Vec<Flow>>, Vec<Run<'a>>) {
    let flows: Vec<_> = (0..count).map(|number| flow(random, &format!("f{number}"))).collect();
    let mut runs = Vec::new();
    for flow in &flows {
        println!("{flow:#?}");
        db.run(&flow.definition()).await;
        runs.push(db.start(&flow.slug, &flow.input.to_string()).await);
    }
    (Arc::new(flows), runs)
}

async fn assert_foreseen(db: &Db, flows: &[Flow], runs: &[Run<'_>]) {
    for (flow, run) in flows.iter().zip(runs) {
        foresee(flow).assert_is(run).await;
    }
    db.check().await;
}

#[tokio::test]
async fn every_run_ends_as_the_model_says() {
    let mut random = Random::new();
    for _ in 0..if long() { 100 } else { 8 } {
        let db = Db::new().await;
        let (flows, runs) = start(&db, &mut random, 5).await;
        let seed = random.next();
        Worker::new(db.session().await, &flows, Random::from_seed(seed)).drain().await;
        assert_foreseen(&db, &flows, &runs).await;
    }
}

#[tokio::test]
async fn the_order_of_many_workers_does_not_matter() {
    let mut random = Random::new();
    let db = Db::new().await;
    let (flows, runs) = start(&db, &mut random, if long() { 200 } else { 25 }).await;
    let mut workers = Vec::new();
    for _ in 0..4 {
        let seed = random.next();
        let worker = Worker::new(db.session().await, &flows, Random::from_seed(seed));
        workers.push(tokio::spawn(worker.drain()));
    }
    for worker in workers {
        worker.await.expect("no worker may fail");
    }
    assert_foreseen(&db, &flows, &runs).await;
}

#[test]
fn the_model_knows_every_kind_of_end() {
    let mut random = Random::from_seed(1);
    let (mut failed, mut completed, mut skipped) = (0, 0, 0);
    for number in 0..500 {
        let expected = foresee(&flow(&mut random, &format!("f{number}")));
        failed += usize::from(expected.ending == Ending::Failed);
        completed += usize::from(expected.ending == Ending::Completed);
        skipped += usize::from(expected.skips());
    }
    assert!(failed > 50 && completed > 50 && skipped > 50, "{failed} {completed} {skipped}");
}

//! Random flows, drained to their end and compared with a tiny model.

mod drive;
mod generate;
mod json;
mod model;
mod oracle;

use self::drive::drain;
use self::generate::flow;
use self::oracle::{Ending, foresee};
use crate::harness::{Db, Random, long};

/// Flows per test, each with a few runs.
fn flows() -> usize {
    if long() { 400 } else { 40 }
}

#[tokio::test]
async fn every_run_ends_as_the_model_says() {
    let db = Db::new().await;
    let mut random = Random::new();
    for number in 0..flows() {
        let seed = random.next();
        let flow = flow(&mut Random::from_seed(seed), &format!("f{number}"));
        println!("flow {number} from {seed}: {flow:#?}");
        db.run(&flow.definition()).await;
        let expected = foresee(&flow);
        let run = db.start(&flow.slug, &flow.input.to_string()).await;
        drain(&db, &flow, &mut random).await;
        expected.assert_is(&run).await;
    }
    db.check().await;
}

#[tokio::test]
async fn the_model_knows_every_kind_of_end() {
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

//! A reader that follows a run while many sessions move it on.

use uuid::Uuid;

use super::race::{race, rows};
use crate::harness::{Db, define};

const STEPS: usize = 24;

/// Follows the run by cursor until it has ended. No number is ever passed over.
async fn follow(db: &Db, run: Uuid) -> usize {
    let mut session = db.session().await;
    let mut seen = 0;
    loop {
        let new = format!(
            "select seq, event_type from pgflow.events where run_id = '{run}' and seq > {seen} order by seq"
        );
        for row in session.rows(&new).await {
            let (seq, event) = row.split_once('|').expect("two columns");
            assert_eq!(seq, (seen + 1).to_string(), "a gap before {row}");
            seen += 1;
            if event == "run:completed" {
                return seen;
            }
        }
    }
}

#[tokio::test]
async fn sees_every_event_in_order() {
    let steps: Vec<_> = (0..STEPS).map(|number| format!("s{number}")).collect();
    let db = Db::with(&define("f", &steps.iter().map(String::as_str).collect::<Vec<_>>())).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let complete = |step: &String| {
        format!("select status from pgflow.complete_task('{}', '{step}', 0, '1', 1)", run.id)
    };
    let scripts =
        steps.chunks(STEPS / 4).map(|steps| steps.iter().map(complete).collect()).collect();
    let (seen, answers) = tokio::join!(follow(&db, run.id), race(&db, scripts));
    assert!(rows(&answers).iter().flatten().all(|rows| *rows == ["completed"]));
    assert_eq!(seen, 2 + 2 * STEPS);
    db.check().await;
}

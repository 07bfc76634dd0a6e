//! What an editor can do in a job.

use crate::open;

const INVOICE: &str = include_str!("invoice.rs");

const MERGE: &str = "pub async fn merge(job: Draft) -> Result<Next> {";
const REVIEW: &str = "pub async fn review(job: Draft) -> Result<Next>;";

/// Every line that names the need `merge`.
const MENTIONS: [&str; 4] = [
    "Ok(Next::to::<merge>(Draft { pages: job }))",
    "Ok(Next::to::<merge>(job))",
    "db.submit::<invoice::merge>(&Draft { pages: 1 }).await?;",
    MERGE,
];

#[test]
fn a_hand_over_leads_to_its_need() {
    let mut job = open("needs", INVOICE);
    assert_eq!(job.definition("Next::to::<mer|ge>(Draft"), [MERGE]);
    assert_eq!(job.definition("Next::to::<rev|iew>(job)"), [REVIEW], "nobody has code for it here");
    assert_eq!(job.definition("submit::<invoice::mer|ge>"), [MERGE]);
    assert_eq!(job.definition("merge(job: Dra|ft)"), ["pub struct Draft {"]);
    assert!(job.hover("Next::to::<mer|ge>(Draft").contains("merge"));
    assert_eq!(job.references("pub async fn mer|ge("), MENTIONS);
    assert_eq!(job.problems(), Vec::<String>::new());
}

#[test]
fn a_rename_changes_the_need_and_everything_that_names_it() {
    let mut job = open("needs-rename", INVOICE);
    assert_eq!(job.rename("pub async fn mer|ge(", "join"), MENTIONS);
    assert_eq!(job.rename("Next::to::<mer|ge>(Draft", "join"), MENTIONS);
    assert_eq!(job.rename("submit::<invoice::mer|ge>", "join"), MENTIONS);
}

//! `read_events`: a run's events behind a cursor.

use crate::harness::{Db, define};

#[tokio::test]
async fn pages_follow_each_other() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "1").await;
    run.finish("a", "1").await;
    let read = |arguments: &str| {
        format!(
            "select seq, event_type, step_slug from pgflow.read_events('{}'{arguments})",
            run.id
        )
    };
    assert_eq!(db.rows(&read(", 0, 2")).await, ["1|run:started|NULL", "2|step:started|a"]);
    assert_eq!(db.rows(&read(", 2, 2")).await, ["3|step:completed|a", "4|step:started|b"]);
    assert_eq!(db.rows(&read(", after => 4")).await, [""; 0]);
    run.finish("b", "2").await;
    assert_eq!(
        db.rows(&read(", after => 4")).await,
        ["5|step:completed|b", "6|run:completed|NULL"]
    );
    assert_eq!(db.rows(&read("")).await.len(), 6);
}

#[tokio::test]
async fn they_are_those_of_the_view() {
    let db = Db::with(&define("f", &["a"])).await;
    let (run, other) = (db.start("f", "1").await, db.start("f", "1").await);
    run.finish("a", "{\"x\": 1}").await;
    let columns = "seq, event_type, step_slug, payload, at";
    let view =
        format!("select {columns} from pgflow.events where run_id = '{}' order by seq", run.id);
    assert_eq!(
        db.rows(&format!("select {columns} from pgflow.read_events('{}')", run.id)).await,
        db.rows(&view).await
    );
    assert_eq!(
        db.one(&format!("select count(*) from pgflow.read_events('{}')", other.id)).await,
        "2"
    );
    assert_eq!(db.rows("select seq from pgflow.read_events(gen_random_uuid())").await, [""; 0]);
}

/// Texts, numbers that are short as `jsonb` and long as text, and the outputs of a map.
#[tokio::test]
async fn a_page_has_a_bounded_number_of_bytes() {
    let db = Db::with(&define("f", &["a", "b", "c", "d", "m map after d"])).await;
    let run = db.start("f", "1").await;
    let text = "to_jsonb(repeat('x', 3000000))";
    let numbers = "(select jsonb_agg('1e100000'::jsonb) from generate_series(1, 30))";
    for (step, output) in [("a", text), ("b", text), ("c", numbers)] {
        let done = format!("select pgflow.complete_task('{}', '{step}', 0, {output})", run.id);
        db.run(&format!("select pgflow.claim_tasks(array['f'], 10); {done}")).await;
    }
    run.finish("d", "[1, 2]").await;
    db.run("select pgflow.claim_tasks(array['f'], 10)").await;
    for index in 0..2 {
        let done = format!("select pgflow.complete_task('{}', 'm', {index}, {text})", run.id);
        db.run(&done).await;
    }
    let mut pages: Vec<Vec<String>> = Vec::new();
    loop {
        let after =
            pages.iter().flatten().last().map_or("0", |line| &line[..line.find('|').unwrap()]);
        let read = format!(
            "select seq, event_type, step_slug from pgflow.read_events('{}', {after}) order by seq",
            run.id
        );
        match db.rows(&read).await {
            page if page.is_empty() => break,
            page => pages.push(page),
        }
    }
    let last: Vec<_> = pages.iter().map(|page| page.last().unwrap().as_str()).collect();
    assert_eq!(
        last,
        [
            "6|step:completed|a",
            "7|step:completed|b",
            "10|step:started|m",
            "11|step:completed|m",
            "12|run:completed|NULL"
        ]
    );
}

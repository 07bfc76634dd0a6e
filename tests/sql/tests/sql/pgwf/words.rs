//! Calls by position whose arguments have no types: bare literals, and parameters of drivers that leave types to the server.

use super::lease;
use crate::harness::Db;

const KEPT: &str = "select singleton_key, payload, (available_at at time zone 'UTC')::date, (expires_at at time zone 'UTC')::date
    from pgwf.jobs where job_id = 'x'";

/// Both ways of saying it: as literals, and as parameters whose types the server infers.
async fn said(db: &Db, function: &str, arguments: &[&str]) -> String {
    let literal = format!("select * from pgwf.{function}({})", arguments.join(", "));
    let places: Vec<String> = (1..=arguments.len()).map(|n| format!("${n}")).collect();
    let prepared = format!(
        "prepare said as select * from pgwf.{function}({}); execute said ({})",
        places.join(", "),
        arguments.join(", ")
    );
    let mut kept = Vec::new();
    for call in [literal, prepared] {
        let mut session = db.session().await;
        session.run(&format!("begin; {call}")).await;
        kept.push(session.one(KEPT).await);
    }
    assert_eq!(kept[0], kept[1], "{function} {arguments:?}");
    kept.remove(0)
}

#[tokio::test]
async fn a_submission_says_by_its_words_which_generation_it_is() {
    let db = Db::new().await;
    let today = db.one("select (now() at time zone 'UTC')::date").await;
    for (words, key, payload, at, until) in [
        (&["'cust'"][..], "cust", "{}", "today", "infinity"),
        (&["'{\"a\": 1}'"], "NULL", "{\"a\": 1}", "today", "infinity"),
        (&["null"], "NULL", "{}", "today", "infinity"),
        (&["'{\"a\": 1}'", "'k'"], "k", "{\"a\": 1}", "today", "infinity"),
        (&["'{\"a\": 1}'", "'2031-01-01'"], "2031-01-01", "{\"a\": 1}", "today", "infinity"),
        (&["'{\"a\": 1}'", "null"], "NULL", "{\"a\": 1}", "today", "infinity"),
        (&["'cust'", "'2031-01-01 10:00Z'"], "cust", "{}", "2031-01-01", "infinity"),
        (&["'123'", "'2031-01-01T10:00:00.000Z'"], "123", "{}", "2031-01-01", "infinity"),
        (&["null", "'2031-01-01'"], "NULL", "{}", "2031-01-01", "infinity"),
        (&["'cust'", "null"], "cust", "{}", "today", "infinity"),
        (&["'cust'", "'infinity'"], "cust", "{}", "infinity", "infinity"),
        (&["null", "null"], "NULL", "{}", "today", "infinity"),
        (&["null", "'k'"], "k", "{}", "today", "infinity"),
        (&["null", "'2031-01-01-report'"], "2031-01-01-report", "{}", "today", "infinity"),
        (&["null", "'2031-01-01 report'"], "2031-01-01 report", "{}", "today", "infinity"),
        (&["null", "'2031-01-01 10:00:00.5+02'"], "NULL", "{}", "2031-01-01", "infinity"),
        (&["null", "'2031-01-01+02'"], "NULL", "{}", "2030-12-31", "infinity"),
        (&["'{}'", "'k'", "'2031-01-01'"], "k", "{}", "2031-01-01", "infinity"),
        (&["'{}'", "'k'", "'2031-01-01'", "'2032-01-01'"], "k", "{}", "2031-01-01", "2032-01-01"),
        (&["'cust'", "'2031-01-01'", "'2032-01-01'"], "cust", "{}", "2031-01-01", "2032-01-01"),
        (&["'cust'", "'2031-01-01'", "null"], "cust", "{}", "2031-01-01", "infinity"),
        (&["null", "null", "null"], "NULL", "{}", "today", "infinity"),
    ] {
        let arguments = [&["'x'", "'w'", "'n'", "'{}'"][..], words].concat();
        let at = if at == "today" { &today } else { at };
        let expected = format!("{key}|{payload}|{at}|{until}");
        assert_eq!(said(&db, "submit_job", &arguments).await, expected, "{words:?}");
    }
    let neither = db.error("select pgwf.submit_job('x', 'w', 'n', '{}', 'cust', 'k')").await;
    assert_eq!(neither.code, "22P02", "no payload, and no moment");
}

#[tokio::test]
async fn a_hand_over_says_by_its_words_which_generation_it_is() {
    let db = Db::new().await;
    let today = db.one("select (now() at time zone 'UTC')::date").await;
    db.run("select pgwf.submit_job('x', 'w', 'n', '{}', '{\"a\": 1}'::jsonb, 'old')").await;
    for held in [false, true] {
        let lease = if held { lease(&db, "n", "x").await } else { String::new() };
        let (quoted, function) = if held {
            (format!("'{lease}'"), "reschedule_job")
        } else {
            (String::new(), "reschedule_unheld_job")
        };
        for (words, key, payload, at) in [
            (&["'new'"][..], "new", "{\"a\": 1}", "today"),
            (&["'2031-01-01'"], "old", "{\"a\": 1}", "2031-01-01"),
            (&["null"], "old", "{\"a\": 1}", "today"),
            (&["'2031-01-01'", "'{\"b\": 2}'"], "old", "{\"b\": 2}", "2031-01-01"),
            (&["null", "'{\"b\": 2}'"], "old", "{\"b\": 2}", "today"),
            (&["'2031-01-01'", "null"], "old", "{\"a\": 1}", "2031-01-01"),
            (&["null", "null"], "old", "{\"a\": 1}", "today"),
            (&["'new'", "'2031-01-01'"], "new", "{\"a\": 1}", "2031-01-01"),
            (&["null", "'2031-01-01'"], "old", "{\"a\": 1}", "2031-01-01"),
            (&["'new'", "null"], "new", "{\"a\": 1}", "today"),
        ] {
            let mut arguments = vec!["'x'", quoted.as_str(), "'w'", "'n'", "'{}'"];
            arguments.retain(|word| !word.is_empty());
            arguments.extend(words);
            let at = if at == "today" { &today } else { at };
            let expected = format!("{key}|{payload}|{at}|infinity");
            assert_eq!(said(&db, function, &arguments).await, expected, "{function} {words:?}");
        }
    }
    db.check().await;
}

/// All three were in the older form, which has no defaults: with them a call could mean either.
#[tokio::test]
async fn a_hand_over_with_a_key_by_name_names_the_rest_too() {
    let db = Db::new().await;
    db.run("select pgwf.submit_job('x', 'w', 'n')").await;
    let call = "select pgwf.reschedule_unheld_job('x', 'w', 'm', p_singleton_key => 'new'";
    assert_eq!(db.error(&format!("{call})")).await.code, "42883");
    db.run(&format!("{call}, p_wait_for => '{{}}', p_available_at => null)")).await;
    assert_eq!(db.one("select singleton_key from pgwf.jobs").await, "new");
}

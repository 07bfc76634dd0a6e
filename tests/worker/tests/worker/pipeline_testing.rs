//! Pipelines in the tests of users: virtual time, and workers that die at a named moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pgflow::pipeline::{OnFailure, Pipeline, Queue};
use pgflow::testing::{Crash, TestPipeline};
use pgflow_worker_tests::Outcome;

use crate::pipelines::Seen;

async fn notes(test: &TestPipeline) -> Outcome<Vec<String>> {
    Ok(sqlx::query_scalar("select note from notes").fetch_all(&test.sqlite()).await?)
}

/// Whenever the worker dies, what a message emits and writes is there once.
#[tokio::test(flavor = "multi_thread")]
async fn a_crash_at_any_moment_loses_and_repeats_nothing() -> Outcome {
    let docs = Queue::<String>::named("docs");
    let words = Queue::<String>::named("words");
    for (moment, calls) in
        [(Crash::AfterClaim, 1), (Crash::BeforeSettle, 2), (Crash::AfterSettle, 1)]
    {
        let seen = Seen::new();
        let saw = seen.clone();
        let split = Pipeline::new("split", &docs)
            .process_in(move |doc, ctx, tx| {
                saw.add(ctx.attempt());
                Box::pin(async move {
                    let sqlite = tx.sqlite().ok_or("not SQLite")?;
                    sqlx::query("insert into notes values (?)").bind(&doc).execute(sqlite).await?;
                    Ok(doc)
                })
            })
            .emit(&words, |doc| doc.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let mut test = TestPipeline::new(split);
        sqlx::query("create table notes (note)").execute(&test.sqlite()).await?;
        test.crash(moment, 1);
        test.push(&docs, &"one two three".to_owned())?;
        test.run();
        let is_settled = moment == Crash::AfterSettle;
        assert_eq!(test.waiting(&words)?.len(), if is_settled { 3 } else { 0 }, "{moment:?}");
        assert_eq!(notes(&test).await?.len(), usize::from(is_settled), "{moment:?}");
        test.advance(Duration::from_mins(2));
        assert_eq!(test.waiting(&words)?, ["one", "two", "three"], "{moment:?}");
        assert_eq!(notes(&test).await?, ["one two three"], "{moment:?}");
        assert_eq!(seen.all().len(), calls, "{moment:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dead_are_noted_and_loads_are_shared() -> Outcome {
    let numbers = Queue::<u32>::named("numbers").attempts(1);
    let loads = Seen::new();
    let loaded = loads.clone();
    let pipeline = Pipeline::new("sum", &numbers)
        .preload(move |numbers: Vec<u32>| {
            loaded.add(numbers.len());
            async move { Ok(numbers.into_iter().sum::<u32>()) }
        })
        .process(|number, sum, _ctx| async move {
            if number == 2 { Err(format!("the sum is {sum}").into()) } else { Ok(*sum) }
        })
        .on_dead(|message, why, tx| {
            Box::pin(async move {
                let note = format!("{} {why}", message.read::<u32>()?);
                let sqlite = tx.sqlite().ok_or("not SQLite")?;
                sqlx::query("insert into notes values (?)").bind(note).execute(sqlite).await?;
                Ok(())
            })
        });
    let mut test = TestPipeline::new(pipeline);
    sqlx::query("create table notes (note)").execute(&test.sqlite()).await?;
    for number in 1..=3 {
        test.push(&numbers, &number)?;
    }
    test.run();
    assert_eq!(loads.all(), [3], "once for the claim");
    assert_eq!(test.dead(&numbers)?, ["the sum is 6"]);
    assert_eq!(notes(&test).await?, ["2 the sum is 6"]);
    Ok(())
}

/// What a failure does to others of its key does not depend on which function it comes from.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_waits_for_a_message_whatever_of_its_code_panics() -> Outcome {
    let (numbers, parts) = (Queue::<u32>::named("numbers"), Queue::<u32>::named("parts"));
    let numbers = numbers.serial_by(|_| "all".to_owned(), OnFailure::Block);
    let (seen, panics) = (Seen::new(), Arc::new(AtomicU32::new(0)));
    let saw = seen.clone();
    let pipeline = Pipeline::new("split", &numbers)
        .process(move |number, _ctx| {
            saw.add(number);
            async move { Ok(number) }
        })
        .emit(&parts, move |number| {
            let is_first = panics.fetch_add(1, Ordering::Relaxed) == 0;
            assert!(!is_first, "the first time");
            [*number]
        });
    let mut test = TestPipeline::new(pipeline);
    for number in 1..=2 {
        test.push(&numbers, &number)?;
    }
    test.run();
    assert_eq!(seen.all(), [1], "2 waits for 1");
    test.advance(Duration::from_mins(2));
    assert_eq!(seen.all(), [1, 1, 2]);
    assert_eq!(test.waiting(&parts)?, [1, 2]);
    Ok(())
}

/// Rather than never ending.
#[tokio::test]
#[should_panic(expected = "multi_thread")]
async fn a_test_that_could_not_end_says_so() {
    let numbers = Queue::<u32>::named("numbers");
    let pipeline = Pipeline::new("sum", &numbers)
        .process_in(|number, _ctx, _tx| Box::pin(async move { Ok(number) }));
    let mut test = TestPipeline::new(pipeline);
    test.push(&numbers, &1).expect("a push");
    test.run();
}

//! Pipelines in the tests of users: virtual time, and workers that die at a named moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pgflow::pipeline::{Batch, OnFailure, Pipeline, Queue, Rate};
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

/// What a worker would say, if it says no.
fn refusal(make: impl FnOnce() -> TestPipeline + std::panic::UnwindSafe) -> String {
    let refused = std::panic::catch_unwind(|| make().run()).expect_err("a worker refuses it");
    refused.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn a_test_refuses_what_a_worker_refuses() {
    let plain = || Pipeline::new("sum", &Queue::<u32>::named("numbers"));
    let works = |number: u32, _ctx| async move { Ok(number) };
    let keyed = refusal(move || {
        let rule = Batch::len(2).key(ToString::to_string);
        let settle = |batch: pgflow::pipeline::Items<u32>, _ctx| async move {
            Ok(batch.settle_all(|number| number))
        };
        TestPipeline::new(plain().batch(rule, settle))
    });
    assert!(keyed.contains("`sum`") && keyed.contains("Queue::batch_by"), "{keyed}");
    let undeclared = refusal(move || TestPipeline::new(plain().resource("tpu", 1).process(works)));
    assert!(undeclared.contains("there is no resource `tpu`"), "{undeclared}");
    let twice = refusal(move || {
        let (slow, fast) = (Rate::per_second(1), Rate::per_second(2));
        TestPipeline::new(plain().rate("api", slow).rate("api", fast).process(works))
    });
    assert!(twice.contains("rate `api` is declared as"), "{twice}");
    let never = refusal(move || TestPipeline::new(plain().concurrency(0).process(works)));
    assert!(never.contains("concurrency of pipeline `sum` must be at least 1"), "{never}");
    let short = refusal(move || TestPipeline::new(plain().lease(Duration::ZERO).process(works)));
    assert!(short.contains("a lease of pipeline `sum`"), "{short}");
    let limited = TestPipeline::new(plain().global_concurrency(1).process(works));
    drop(limited); // It has one process by nature.
}

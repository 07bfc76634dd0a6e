//! Functions of pipelines in the transaction that settles their messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pgflow::WorkerError;
use pgflow::pipeline::{Batch, Pipeline, Queue};
use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome, Working, on};
use sqlx::Connection as _;
use tokio::time::timeout;

use crate::pipelines::{PATIENCE, drained};

on!(memory: memory_has_no_transactions);
on!(sqlite: what_is_written_is_there_once, a_batch_writes_as_one, the_dead_are_noted, the_refused_are_noted, a_note_that_fails_is_told);
on!(mysql: what_is_written_is_there_once, a_batch_writes_as_one, the_dead_are_noted, the_refused_are_noted, a_note_that_fails_is_told);
on!(postgres: what_is_written_is_there_once, a_batch_writes_as_one, the_dead_are_noted, the_refused_are_noted, a_note_that_fails_is_told);

const AGAIN: Duration = Duration::ZERO;

async fn insert(tx: &mut Tx, text: String) -> Result<()> {
    if let Some(connection) = tx.mysql() {
        sqlx::query("insert into notes values (?)").bind(text).execute(connection).await?;
    } else if let Some(connection) = tx.sqlite() {
        sqlx::query("insert into notes values (?)").bind(text).execute(connection).await?;
    } else if let Some(connection) = tx.postgres() {
        sqlx::query("insert into notes values ($1)").bind(text).execute(connection).await?;
    }
    Ok(())
}

async fn create(fresh: &Fresh) -> Outcome {
    with_connection!(fresh, connection => {
        sqlx::query("create table notes (note varchar(255))").execute(&mut connection).await?;
    });
    Ok(())
}

async fn notes(fresh: &Fresh) -> Outcome<Vec<String>> {
    const ALL: &str = "select note from notes order by note";
    Ok(
        with_connection!(fresh, connection => sqlx::query_scalar(ALL).fetch_all(&mut connection).await?),
    )
}

/// Each first attempt fails after it has written.
async fn what_is_written_is_there_once(fresh: Fresh) -> Outcome {
    create(&fresh).await?;
    let numbers = Queue::<u32>::named("numbers");
    let doubles = Queue::<u32>::named("doubles");
    let book = Pipeline::new("book", &numbers)
        .process_in(|number, ctx, tx| {
            Box::pin(async move {
                insert(tx, format!("{number:02}")).await?;
                match ctx.attempt() {
                    1 if number % 3 == 0 => Err(Error::retry_after(AGAIN, "not yet")),
                    1 if number % 3 == 1 => panic!("not yet"),
                    _ => Ok(number * 2),
                }
            })
        })
        .emit(&doubles, |number| [*number, *number + 1]);
    let working = Working::start(Worker::new(&fresh.db).pipeline(book));
    numbers.push_all(&fresh.db, &(0..12).collect::<Vec<_>>()).await?;
    drained(&fresh.db, "numbers").await?;
    assert!(working.stop().await?.is_clean());
    let expected: Vec<_> = (0..12).map(|number| format!("{number:02}")).collect();
    assert_eq!(notes(&fresh).await?, expected, "what failed attempts wrote is gone");
    assert_eq!(fresh.db.queue("doubles").stats().await?.depth, 24);
    assert_eq!(fresh.db.queue("numbers").stats().await?.dead, 0);
    Ok(())
}

/// A batch that fails writes nothing; one that settles message by message writes once.
async fn a_batch_writes_as_one(fresh: Fresh) -> Outcome {
    create(&fresh).await?;
    let words = Queue::<String>::named("words");
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let rule = Batch::len(3).wait(Duration::from_millis(200));
    let pipeline = Pipeline::new("join", &words)
        .process(|word, _ctx| async move { Ok(word.to_uppercase()) })
        .batch_in(rule, move |batch, _ctx, tx| {
            let call = counted.fetch_add(1, Ordering::SeqCst);
            Box::pin(async move {
                insert(tx, batch.items().join("")).await?;
                match call {
                    0 => Err(Error::retry_after(AGAIN, "the first batch fails")),
                    1 => Ok(batch.release()),
                    _ => Ok(batch.settle(|_, word| match &*word {
                        "B" => Err(Error::fatal("no B")),
                        word => Ok(word.len()),
                    })),
                }
            })
        });
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline));
    words.push_all(&fresh.db, &["a", "b", "c"].map(str::to_owned)).await?;
    drained(&fresh.db, "words").await?;
    working.stop().await?;
    assert_eq!(notes(&fresh).await?, ["ABC"]);
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    let dead = fresh.db.dead("words").list(10).await?;
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].error.as_deref(), Some("no B"), "the others are done");
    Ok(())
}

fn dying(numbers: &Queue<u32>) -> pgflow::pipeline::Processed<u32, u32> {
    Pipeline::new("sum", numbers).process(|number, _ctx| async move {
        match number {
            1 => Err(Error::fatal("never")),
            2 => Err(Error::retry_after(AGAIN, "again")),
            number => Ok(number),
        }
    })
}

async fn the_dead_are_noted(fresh: Fresh) -> Outcome {
    create(&fresh).await?;
    let numbers = Queue::<u32>::named("numbers").attempts(2);
    let pipeline = dying(&numbers).on_dead(|message, why, tx| {
        Box::pin(async move {
            let about = message.read::<u32>().map_or_else(|_| "?".into(), |it| it.to_string());
            let why = why.split(':').next().unwrap_or_default().to_owned();
            insert(tx, format!("{about} {why} {}", message.attempts())).await
        })
    });
    fresh.db.submit_raw("numbers", serde_json::json!("many")).await?;
    numbers.push_all(&fresh.db, &[1, 2, 3]).await?;
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline));
    drained(&fresh.db, "numbers").await?;
    assert!(working.stop().await?.is_clean());
    assert_eq!(notes(&fresh).await?, ["1 never 1", "2 again 2", "? decode 1"]);
    assert_eq!(fresh.db.queue("numbers").stats().await?.dead, 3);
    Ok(())
}

async fn a_note_that_fails_is_told(fresh: Fresh) -> Outcome {
    create(&fresh).await?;
    let numbers = Queue::<u32>::named("numbers");
    let pipeline = dying(&numbers).on_dead(|_message, why, tx| {
        Box::pin(async move {
            insert(tx, why).await?;
            Err(Error::fatal("no ink"))
        })
    });
    numbers.push(&fresh.db, &1).await?;
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline));
    drained(&fresh.db, "numbers").await?;
    working.stop().await?;
    assert!(notes(&fresh).await?.is_empty(), "it was undone");
    let dead = fresh.db.dead("numbers").list(10).await?;
    assert_eq!(dead[0].error.as_deref(), Some("never; on_dead: no ink"));
    Ok(())
}

/// What it emits is refused, with a transaction of its own and without.
async fn the_refused_are_noted(fresh: Fresh) -> Outcome {
    create(&fresh).await?;
    let (numbers, others) = (Queue::<u32>::named("numbers"), Queue::<u32>::named("others"));
    let (texts, odd) = (Queue::<String>::named("texts"), |_: &u32| ["n\0".to_owned()]);
    let plain = Pipeline::new("plain", &numbers)
        .process(|number, _ctx| async move { Ok(number) })
        .emit(&texts, odd)
        .on_dead(|_message, why, tx| Box::pin(insert(tx, why.chars().take(40).collect())));
    let writes = Pipeline::new("writes", &others)
        .process_in(|number, _ctx, tx| {
            Box::pin(async move {
                insert(tx, "written".to_owned()).await?;
                Ok(number)
            })
        })
        .emit(&texts, odd)
        .on_dead(|_message, why, tx| Box::pin(insert(tx, why.chars().take(40).collect())));
    numbers.push(&fresh.db, &1).await?;
    others.push(&fresh.db, &2).await?;
    let working = Working::start(Worker::new(&fresh.db).pipeline(plain).pipeline(writes));
    drained(&fresh.db, "numbers").await?;
    drained(&fresh.db, "others").await?;
    assert!(working.stop().await?.is_clean());
    let why: String =
        "what comes next cannot be: cannot store the job's payload".chars().take(40).collect();
    assert_eq!(notes(&fresh).await?, [&*why, &*why], "and what was written is gone");
    assert_eq!(fresh.db.queue("texts").stats().await?.depth, 0);
    Ok(())
}

async fn memory_has_no_transactions(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers");
    let writes = Pipeline::new("sum", &numbers)
        .process_in(|number, _ctx, _tx| Box::pin(async move { Ok(number) }));
    let notes = dying(&numbers).on_dead(|_, _, _| Box::pin(async { Ok(()) }));
    for pipeline in [pgflow::pipeline::PipelineSpec::from(writes), notes.into()] {
        let worker = Worker::new(&fresh.db).pipeline(pipeline);
        let started = timeout(PATIENCE, worker.run(std::future::pending())).await?;
        let refused = matches!(started, Err(WorkerError::NoTransaction { need: "numbers", .. }));
        assert!(refused, "{started:?}");
    }
    Ok(())
}

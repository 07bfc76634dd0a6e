//! Streams through a worker and a client, from what a step says to those who read it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pgflow::prelude::*;
use pgflow::{
    ClientError, RunStatus,
    stream::{Chunks, Emitted},
};
use pgflow_machine::log::StreamProblem;
use pgflow_worker_tests::{Fresh, Outcome, Working, everywhere};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// Steps go on when the test lets them.
#[derive(Clone)]
struct Gate(Arc<Semaphore>);

impl Gate {
    fn closed() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    fn open(&self) {
        self.0.add_permits(1);
    }

    async fn pass(&self) {
        self.0.acquire().await.expect("nobody closes it").forget();
    }
}

#[flow(input = u32)]
mod count {
    use super::*;

    #[step]
    pub(crate) async fn up(run: u32, out: Emit<u32>, State(gate): State<Gate>) -> Result<u32> {
        for number in 0..run {
            out.send(number).await?;
        }
        out.flush().await?;
        gate.pass().await;
        out.send(run).await?;
        Ok(run)
    }
}

#[flow(input = u32, base_delay = 0)]
mod stumble {
    use super::*;

    /// Fails so often, each time after so many words.
    #[step(max_attempts = 3)]
    pub(crate) async fn talk(run: u32, ctx: Context, out: Emit<String>) -> Result<u32> {
        for word in 0..=ctx.attempt() {
            out.send(format!("{}.{word}", ctx.attempt())).await?;
        }
        if ctx.attempt() <= run { Err("lost for words".into()) } else { Ok(run) }
    }
}

#[flow(input = Vec<u32>)]
mod each {
    use super::*;

    #[step(map)]
    pub(crate) async fn twice(item: u32, out: Emit<u32>) -> Result<u32> {
        out.send(item).await?;
        out.send(item).await?;
        Ok(item)
    }

    #[step(depends_on = [twice])]
    pub(crate) async fn quiet(twice: Vec<u32>, out: Emit<u32>) -> Result<usize> {
        drop(out);
        Ok(twice.len())
    }
}

#[flow(input = String, max_attempts = 1)]
mod silent {
    use super::*;

    /// Ends badly before its first chunk.
    #[step(timeout = "1s")]
    pub(crate) async fn say(run: String, out: Emit<String>) -> Result<u32> {
        drop(out);
        match run.as_str() {
            "fail" => Err("no words".into()),
            "panic" => panic!("out of words"),
            _ => std::future::pending().await,
        }
    }
}

/// How much clones were told is sent, by what their runs were given.
static SENT: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

#[flow(input = String)]
mod chatty {
    use super::*;

    /// Ends while a task of its own goes on to say something.
    #[step]
    pub(crate) async fn chat(run: String, out: Emit<usize>) -> Result<u32> {
        let clone = out.clone();
        tokio::spawn(async move {
            let mut sent = 0;
            while clone.send(sent).await.is_ok() {
                sent += 1;
                tokio::task::yield_now().await;
            }
            SENT.lock().expect("nobody panics with it").insert(run, sent);
        });
        tokio::time::sleep(Duration::from_millis(3)).await;
        Ok(0)
    }
}

everywhere!(
    what_a_step_says_is_read_while_it_runs,
    readers_see_the_same_whenever_they_come,
    another_attempt_is_another_generation,
    a_step_that_fails_ends_its_stream_with_its_error,
    a_step_that_fails_before_it_says_anything_ends_its_stream_with_its_error,
    a_writer_sends_what_piled_up_in_portions,
    each_task_of_a_map_has_a_stream,
    writers_and_readers_of_a_name,
    a_writer_is_told_of_the_end_each_time,
    a_chunk_that_is_too_large_fails_the_step,
    a_cancelled_run_ends_its_streams,
    a_reader_that_falls_behind_misses_nothing,
    what_was_sent_is_written_whoever_sent_it,
    a_stream_that_is_deleted_ends_for_its_readers_and_begins_anew_for_its_writers,
);

/// What comes until the end, as text.
async fn all<T: std::fmt::Debug + 'static>(mut chunks: Chunks<T>) -> Outcome<Vec<String>> {
    let mut seen = Vec::new();
    while let Some(item) = timeout(PATIENCE, chunks.next()).await? {
        seen.push(match item {
            Ok(Emitted::Chunk { value, .. }) => format!("{value:?}"),
            Ok(Emitted::Restarted { attempt }) => format!("restarted {attempt}"),
            Ok(other) => format!("{other:?}"),
            Err(ClientError::StreamFailed { reason, .. }) => reason,
            Err(error) => return Err(error.into()),
        });
    }
    Ok(seen)
}

async fn next<T: 'static>(chunks: &mut Chunks<T>) -> Outcome<T> {
    let item = timeout(PATIENCE, chunks.next()).await?.ok_or("it has ended")??;
    Ok(item.value().ok_or("not a chunk")?)
}

fn words<T: std::fmt::Display>(words: impl IntoIterator<Item = T>) -> Vec<String> {
    words.into_iter().map(|word| word.to_string()).collect()
}

async fn what_a_step_says_is_read_while_it_runs(fresh: Fresh) -> Outcome {
    let gate = Gate::closed();
    fresh.db.register(count::Flow).await?;
    let run = fresh.db.start(count::Flow, &2).await?;
    let mut early = run.stream::<count::up>();
    let reading = tokio::spawn(async move {
        let numbers = [next(&mut early).await?, next(&mut early).await?];
        Outcome::Ok((numbers, early))
    });
    let worker = Worker::new(&fresh.db).flow(count::Flow).state(gate.clone());
    let worker = Working::start(worker);
    let (numbers, mut early) = timeout(PATIENCE, reading).await???;
    assert_eq!(numbers, [0, 1]);
    assert_eq!(run.status().await?, RunStatus::Started, "the step has not ended");
    gate.open();
    assert_eq!(next(&mut early).await?, 2);
    assert!(timeout(PATIENCE, early.next()).await?.is_none());
    assert_eq!(run.output().await?.up, 2);
    worker.stop().await?;
    Ok(())
}

async fn readers_see_the_same_whenever_they_come(fresh: Fresh) -> Outcome {
    let gate = Gate::closed();
    fresh.db.register(count::Flow).await?;
    let run = fresh.db.start(count::Flow, &600).await?;
    let everything = words(0..=600);
    let early = tokio::spawn(all(run.stream::<count::up>()));
    let worker = Working::start(Worker::new(&fresh.db).flow(count::Flow).state(gate.clone()));
    let mut middle = run.stream::<count::up>();
    for number in 0..300 {
        assert_eq!(next(&mut middle).await?, number);
    }
    let mut tail = run.stream::<count::up>().last(1);
    while next(&mut tail).await? < 599 {}
    gate.open();
    assert_eq!(early.await??, everything);
    assert_eq!(all(middle).await?, everything[300..]);
    assert_eq!(all(tail).await?, ["600"]);
    assert_eq!(all(run.stream::<count::up>()).await?, everything, "after the end");
    assert_eq!(all(run.stream::<count::up>().at(590)).await?, everything[590..]);
    assert_eq!(all(run.stream::<count::up>().at(9_999)).await?, [""; 0]);
    assert_eq!(all(run.stream::<count::up>().last(2)).await?, everything[599..]);
    assert_eq!(all(run.stream::<count::up>().tail()).await?, [""; 0]);
    worker.stop().await?;
    Ok(())
}

async fn another_attempt_is_another_generation(fresh: Fresh) -> Outcome {
    let worker = fresh.work(stumble::Flow).await?;
    let run = fresh.db.start(stumble::Flow, &1).await?;
    assert_eq!(run.wait().await?, RunStatus::Completed);
    let latest = all(run.stream::<stumble::talk>()).await?;
    assert_eq!(latest, ["\"2.0\"", "\"2.1\"", "\"2.2\""]);
    let everything = all(run.stream::<stumble::talk>().all()).await?;
    assert_eq!(everything[..3], ["\"1.0\"", "\"1.1\"", "restarted 2"]);
    assert_eq!(everything[3..], latest);
    let resumed = all(run.stream::<stumble::talk>().at(1)).await?;
    assert_eq!(resumed[0], "restarted 2", "who has seen some of it is told");
    assert_eq!(resumed[1..], latest);
    worker.stop().await?;
    Ok(())
}

async fn a_step_that_fails_ends_its_stream_with_its_error(fresh: Fresh) -> Outcome {
    fresh.db.register(stumble::Flow).await?;
    let run = fresh.db.start(stumble::Flow, &9).await?;
    let early = tokio::spawn(all(run.stream::<stumble::talk>()));
    let worker = fresh.work(stumble::Flow).await?;
    assert_eq!(run.wait().await?, RunStatus::Failed);
    let expected = ["\"3.0\"", "\"3.1\"", "\"3.2\"", "\"3.3\"", "lost for words"];
    assert_eq!(all(run.stream::<stumble::talk>()).await?, expected);
    let early = early.await??;
    assert!(early.ends_with(&expected.map(str::to_owned)), "{early:?}");
    worker.stop().await?;
    Ok(())
}

async fn a_step_that_fails_before_it_says_anything_ends_its_stream_with_its_error(
    fresh: Fresh,
) -> Outcome {
    let worker = fresh.work(silent::Flow).await?;
    for (how, why) in [("fail", "no words"), ("panic", "out of words"), ("wait", "1 s")] {
        let run = fresh.db.start(silent::Flow, how.to_owned()).await?;
        let seen = all(run.stream::<silent::say>()).await?;
        assert!(matches!(&seen[..], [said] if said.contains(why)), "{how}: {seen:?}");
    }
    worker.stop().await?;
    Ok(())
}

async fn what_was_sent_is_written_whoever_sent_it(fresh: Fresh) -> Outcome {
    let worker = fresh.work(chatty::Flow).await?;
    for _ in 0..10 {
        let name = pgflow::RunId::new().to_string();
        let run = fresh.db.start(chatty::Flow, name.clone()).await?;
        let read = all(run.stream::<chatty::chat>()).await?.len();
        let sent = || SENT.lock().expect("nobody panics with it").remove(&name);
        let sent = crate::waits::until(async || sent()).await;
        assert_eq!(read, sent, "what is said to be sent is there");
    }
    worker.stop().await?;
    Ok(())
}

/// Sends that are dropped leave their chunks to those after them.
async fn a_writer_sends_what_piled_up_in_portions(fresh: Fresh) -> Outcome {
    let logs = fresh.db.stream("logs")?;
    let mut writer = logs.writer();
    fresh.db.limits().await?;
    let many = 1_500_u32;
    for number in 0..many {
        // Without a turn for the database: it has no answer before the send is dropped.
        _ = futures_util::poll!(writer.send(&number));
    }
    let large = "x".repeat(3 << 20);
    for _ in 0..2 {
        _ = futures_util::poll!(writer.send(&large));
    }
    writer.send(&many).await?;
    logs.close().await?;
    let lengths = all(logs.read_bytes()).await?.len();
    assert_eq!(lengths, many as usize + 3, "each of them once");
    Ok(())
}

async fn each_task_of_a_map_has_a_stream(fresh: Fresh) -> Outcome {
    let worker = fresh.work(each::Flow).await?;
    let run = fresh.db.start(each::Flow, &vec![7, 8]).await?;
    let quiet = tokio::spawn(all(run.stream::<each::quiet>()));
    assert_eq!(run.output().await?.quiet, 2);
    assert_eq!(all(run.stream::<each::twice>()).await?, ["7", "7"]);
    assert_eq!(all(run.stream_of::<each::twice>(1)).await?, ["8", "8"]);
    assert_eq!(all(run.stream_of::<each::twice>(2)).await?, [""; 0]);
    assert_eq!(quiet.await??, [""; 0], "a step that says nothing has said all");
    worker.stop().await?;
    Ok(())
}

async fn writers_and_readers_of_a_name(fresh: Fresh) -> Outcome {
    const EACH: u32 = 50;
    let logs = fresh.db.stream("logs/42")?;
    let readers: Vec<_> = (0..3).map(|_| tokio::spawn(all(logs.read::<String>()))).collect();
    let writers = (0..4).map(|writer| {
        let mut sending = logs.writer();
        tokio::spawn(async move {
            for number in 0..EACH {
                sending.send(&format!("{writer}:{number}")).await?;
            }
            Outcome::Ok(())
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await??;
    }
    logs.fail("the power went").await?;
    logs.close().await?;
    let refused = logs.writer().send("late").await;
    assert!(matches!(refused, Err(ClientError::Stream { .. })), "{refused:?}");
    let after = all(logs.read::<String>()).await?;
    assert_eq!(after.len(), 4 * EACH as usize + 1);
    assert_eq!(after.last().map(String::as_str), Some("the power went"));
    for reader in readers {
        assert_eq!(reader.await??, after, "one order for all");
    }
    for writer in 0..4 {
        let own = after.iter().filter(|line| line.starts_with(&format!("\"{writer}:")));
        assert!(
            own.eq(&(0..EACH).map(|number| format!("\"{writer}:{number}\"")).collect::<Vec<_>>())
        );
    }
    Ok(())
}

async fn a_writer_is_told_of_the_end_each_time(fresh: Fresh) -> Outcome {
    for sent in [0, 2] {
        let logs = fresh.db.stream(&format!("logs/{sent}"))?;
        let mut writer = logs.writer();
        for number in 0..sent {
            writer.send(&number).await?;
        }
        logs.close().await?;
        for late in 0..3 {
            let refused = writer.send(&"late").await;
            let has_ended = |source: &StreamProblem| matches!(source, StreamProblem::Ended(_));
            let is_told =
                matches!(&refused, Err(ClientError::Stream { source, .. }) if has_ended(source));
            assert!(is_told, "{late} after {sent}: {refused:?}");
        }
        assert_eq!(all(logs.read::<u32>()).await?, words(0..sent));
    }
    Ok(())
}

#[flow(input = usize)]
mod shout {
    use super::*;

    #[step(max_attempts = 1)]
    pub(crate) async fn loud(run: usize, out: Emit<String>) -> Result<usize> {
        out.send("x".repeat(run)).await?;
        Ok(run)
    }
}

async fn a_chunk_that_is_too_large_fails_the_step(fresh: Fresh) -> Outcome {
    let worker = fresh.work(shout::Flow).await?;
    let limit = fresh.db.limits().await?.max_bytes;
    let run = fresh.db.start(shout::Flow, &(limit + 1)).await?;
    let error = run.output().await.expect_err("it cannot be stored").to_string();
    assert!(error.contains("the limit is"), "{error}");
    // With its quotes it is as large as may be.
    let run = fresh.db.start(shout::Flow, &(limit - 2)).await?;
    assert_eq!(run.output().await?.loud, limit - 2);
    assert_eq!(all(run.stream::<shout::loud>()).await?[0].len(), limit);
    worker.stop().await?;
    Ok(())
}

async fn a_cancelled_run_ends_its_streams(fresh: Fresh) -> Outcome {
    let gate = Gate::closed();
    fresh.db.register(count::Flow).await?;
    let worker = Working::start(Worker::new(&fresh.db).flow(count::Flow).state(gate.clone()));
    let run = fresh.db.start(count::Flow, &1).await?;
    let mut numbers = run.stream::<count::up>();
    assert_eq!(next(&mut numbers).await?, 0);
    run.cancel(None).await?;
    assert_eq!(all(numbers).await?, ["abandoned"]);
    worker.stop().await?;
    Ok(())
}

/// More chunks than readers of a process share, while one of them hardly reads.
async fn a_reader_that_falls_behind_misses_nothing(fresh: Fresh) -> Outcome {
    const GROUPS: u32 = 8;
    const EACH: u32 = 400;
    let stream = fresh.db.stream("fast")?;
    let mut writer = stream.writer();
    writer.send(&0).await?;
    let (mut slow, mut quick) = (stream.read::<u32>(), stream.read::<u32>());
    assert_eq!((next(&mut slow).await?, next(&mut quick).await?), (0, 0));
    for group in 0..GROUPS {
        let numbers = 1 + group * EACH..=(group + 1) * EACH;
        writer.send_bytes(numbers.clone().map(|number| number.to_string().into_bytes())).await?;
        for number in numbers {
            assert_eq!(next(&mut quick).await?, number);
        }
        assert_eq!(next(&mut slow).await?, group + 1);
    }
    for number in GROUPS + 1..=GROUPS * EACH {
        assert_eq!(next(&mut slow).await?, number, "what the others have long since read");
    }
    // It is with the others again.
    let last = GROUPS * EACH + 1;
    writer.send(&last).await?;
    assert_eq!((next(&mut slow).await?, next(&mut quick).await?), (last, last));
    stream.close().await?;
    assert_eq!((all(slow).await?.len(), all(quick).await?.len()), (0, 0));
    Ok(())
}

async fn a_stream_that_is_deleted_ends_for_its_readers_and_begins_anew_for_its_writers(
    fresh: Fresh,
) -> Outcome {
    let gone = ["it was deleted"];
    let logs = fresh.db.stream("logs")?.lasting(Duration::ZERO);
    let (mut writer, mut live) = (logs.writer(), logs.read::<u32>());
    for number in 0..3 {
        writer.send(&number).await?;
        assert_eq!(next(&mut live).await?, number);
    }
    fresh.db.prune_streams().await?;
    // One that goes on with what it has sent is no gap.
    for number in 3..7 {
        writer.send(&number).await?;
    }
    let mut new = logs.read::<u32>();
    assert_eq!([next(&mut new).await?, next(&mut new).await?], [3, 4], "nothing of the old one");
    assert_eq!(all(live).await?, gone, "its numbers begin anew");
    // What others read here is not kept for those that come.
    drop(new);
    // One that is behind when a stream goes that has ended.
    writer.send_bytes((7..600).map(|number: u32| number.to_string().into_bytes())).await?;
    logs.close().await?;
    let mut slow = logs.read::<u32>();
    assert_eq!(next(&mut slow).await?, 3);
    fresh.db.prune_streams().await?;
    let rest = all(slow).await?;
    assert!(rest.len() < 500 && rest.ends_with(&gone.map(str::to_owned)), "{rest:?}");
    Ok(())
}

//! Streams, case by case.

use std::time::Duration;

use super::*;
use crate::{Command, Limits, RunId, RunStatus, StepStatus, TaskKey, TaskStatus, Timestamp};

const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

fn task() -> StreamKey {
    StreamKey::Task(TaskKey { run: RunId::from_key("f", "k"), step: "say".to_owned(), index: 0 })
}

fn named() -> StreamKey {
    StreamKey::named("logs").unwrap()
}

fn chunks(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn held_by(attempt: u32) -> Owner {
    standing(RunStatus::Started, StepStatus::Started, Some((TaskStatus::Started, attempt)))
}

fn standing(run: RunStatus, step: StepStatus, task: Option<(TaskStatus, u32)>) -> Owner {
    Owner { run, step, task }
}

fn append(
    rows: &mut StreamRows,
    stream: &StreamKey,
    writer: Writer,
    first: u64,
    texts: &[&str],
) -> Result<Appended, StreamProblem> {
    let chunks = chunks(texts);
    let append = Append::new(stream, writer, first, &chunks, Limits::default());
    let (answer, written) = append.decide(rows, NOW).unwrap();
    let new = answer.as_ref().map_or(0, |appended| appended.chunks);
    assert_eq!(written.chunks.len() as u64, new);
    assert_eq!((written.stream, written.writer), (new > 0, new > 0));
    answer
}

fn close(
    rows: &mut StreamRows,
    stream: &StreamKey,
    writer: Writer,
    end: &End,
) -> Result<Closed, StreamProblem> {
    CloseStream::new(stream, writer, end).decide(rows, NOW).unwrap().0
}

fn me() -> Writer {
    Writer::named("me").unwrap()
}

#[test]
fn numbers_are_dense_and_a_chunk_sent_twice_is_there_once() {
    let (mut rows, stream) = (StreamRows::default(), named());
    let appended = |first, chunks| Ok(Appended { first, chunks });
    assert_eq!(append(&mut rows, &stream, me(), 0, &["a", "b"]), appended(Some(0), 2));
    assert_eq!(append(&mut rows, &stream, me(), 0, &["a", "b"]), appended(None, 0));
    assert_eq!(append(&mut rows, &stream, me(), 1, &["b", "c"]), appended(Some(2), 1));
    assert_eq!(append(&mut rows, &stream, me(), 3, &[]), appended(None, 0));
    let row = rows.stream.unwrap();
    assert_eq!((row.next, row.bytes, rows.written), (3, 3, 3));
}

#[test]
fn nobody_leaves_chunks_out() {
    let (mut rows, stream) = (StreamRows { written: 3, ..StreamRows::default() }, named());
    let gap = StreamProblem::Gap { expected: 3, first: 4 };
    assert_eq!(append(&mut rows, &stream, me(), 4, &["e"]), Err(gap));
    assert_eq!(rows.stream, None);
}

#[test]
fn nothing_follows_the_end_and_what_came_before_is_still_known() {
    let (mut rows, stream) = (StreamRows::default(), named());
    append(&mut rows, &stream, me(), 0, &["a"]).unwrap();
    let end = End::error("broke");
    assert_eq!(close(&mut rows, &stream, me(), &end), Ok(Closed::Now));
    assert_eq!(close(&mut rows, &stream, me(), &End::Eof), Ok(Closed::Before(end.clone())));
    assert_eq!(append(&mut rows, &stream, me(), 0, &["a"]).unwrap().chunks, 0);
    assert_eq!(append(&mut rows, &stream, me(), 1, &["b"]), Err(StreamProblem::Ended(end)));
}

#[test]
fn each_attempt_has_a_generation_and_an_older_one_writes_nothing() {
    let (mut rows, stream) = (StreamRows { owner: Some(held_by(1)), ..Default::default() }, task());
    append(&mut rows, &stream, Writer::Attempt(1), 0, &["a", "b"]).unwrap();
    (rows.owner, rows.written) = (Some(held_by(2)), 0);
    append(&mut rows, &stream, Writer::Attempt(2), 0, &["c"]).unwrap();
    let row = rows.stream.clone().unwrap();
    assert_eq!((row.generation, row.begins_at, row.next, row.expires_at), (2, 2, 3, None));
    let late = append(&mut rows, &stream, Writer::Attempt(1), 1, &["z"]);
    assert_eq!(late, Err(StreamProblem::Superseded(1)));
    assert_eq!(close(&mut rows, &stream, Writer::Attempt(1), &End::Eof), late.map(|_| Closed::Now));
    assert_eq!(rows.stream, Some(row));
}

#[test]
fn an_attempt_opens_its_generation_by_ending_it() {
    let row =
        StreamRow { next: 4, generation: 1, end: Some(End::error("x")), ..Default::default() };
    let mut rows = StreamRows { owner: Some(held_by(3)), stream: Some(row), written: 0 };
    assert_eq!(close(&mut rows, &task(), Writer::Attempt(3), &End::Eof), Ok(Closed::Now));
    let row = rows.stream.unwrap();
    assert_eq!((row.generation, row.begins_at, row.next, row.end), (3, 4, 4, Some(End::Eof)));
}

#[test]
fn streams_and_writers_belong_together() {
    let mut rows = StreamRows::default();
    let wrong = Err(StreamProblem::WrongWriter);
    assert_eq!(append(&mut rows, &task(), me(), 0, &["a"]), wrong);
    assert_eq!(append(&mut rows, &named(), Writer::Attempt(1), 0, &["a"]), wrong);
    let unknown = Err(StreamProblem::UnknownTask);
    assert_eq!(append(&mut rows, &task(), Writer::Attempt(1), 0, &["a"]), unknown);
}

#[test]
fn what_is_too_much_at_once_is_refused() {
    let (mut rows, stream) = (StreamRows::default(), named());
    let many = vec![vec![0]; CHUNKS_AT_ONCE + 1];
    let try_append = |chunks: &[Vec<u8>], limits, rows: &mut StreamRows| {
        Append::new(&stream, me(), 0, chunks, limits).decide(rows, NOW).unwrap().0
    };
    let limits = Limits { max_bytes: 9, ..Limits::default() };
    assert_eq!(
        try_append(&many, Limits::default(), &mut rows),
        Err(StreamProblem::TooMany(CHUNKS_AT_ONCE + 1))
    );
    let too_large = Err(StreamProblem::TooLarge { bytes: 10, limit: 9 });
    assert_eq!(try_append(&[vec![0; 10]], limits, &mut rows), too_large);
    assert_eq!(try_append(&vec![vec![0; 5]; 2], limits, &mut rows), too_large);
    assert!(try_append(&[vec![0; 9]], limits, &mut rows).is_ok());
}

#[test]
fn a_stream_of_its_own_lives_from_its_last_chunk_on() {
    let (mut rows, stream) = (StreamRows::default(), named());
    let chunks = chunks(&["a"]);
    let append = Append {
        lasts: Duration::from_mins(1),
        ..Append::new(&stream, me(), 0, &chunks, Limits::default())
    };
    append.decide(&mut rows, NOW).unwrap().0.unwrap();
    assert_eq!(rows.stream.unwrap().expires_at, Some(NOW + Duration::from_mins(1)));
}

#[test]
fn what_a_reader_may_expect() {
    use {RunStatus as R, StepStatus as P, TaskStatus as T};
    let row = |end| StreamRow { next: 1, generation: 2, end, ..StreamRow::default() };
    let (open, eof, broke) = (row(None), row(Some(End::Eof)), row(Some(End::error("x"))));
    let (lost, x) = (Some(End::error(ABANDONED)), Some(End::error("x")));
    let live = |task| standing(R::Started, P::Started, task);
    for (row, owner, end, is_over) in [
        // Nothing was said yet.
        (None, standing(R::Started, P::Created, None), None, false),
        (None, live(Some((T::Queued, 0))), None, false),
        (None, live(Some((T::Started, 1))), None, false),
        (None, standing(R::Cancelled, P::Created, None), Some(End::Eof), true),
        (None, standing(R::Started, P::Skipped, None), Some(End::Eof), true),
        (None, live(None), Some(End::Eof), true),
        (None, live(Some((T::Completed, 1))), Some(End::Eof), true),
        // An attempt that said nothing has come to nothing.
        (None, standing(R::Failed, P::Failed, Some((T::Failed, 1))), lost.clone(), true),
        (None, standing(R::Failed, P::Started, Some((T::Started, 1))), lost.clone(), true),
        (None, standing(R::Cancelled, P::Started, Some((T::Queued, 0))), Some(End::Eof), true),
        // While its attempt has the task.
        (Some(&open), live(Some((T::Started, 2))), None, false),
        (Some(&eof), live(Some((T::Started, 2))), Some(End::Eof), false),
        (Some(&broke), live(Some((T::Started, 2))), x.clone(), false),
        // When it has left it waiting.
        (Some(&eof), live(Some((T::Waiting, 2))), Some(End::Eof), true),
        (Some(&eof), live(Some((T::Waiting, 3))), Some(End::Eof), false),
        (Some(&broke), live(Some((T::Waiting, 2))), x.clone(), false),
        // When it has it no more, and another may.
        (Some(&open), live(Some((T::Queued, 2))), lost.clone(), false),
        (Some(&open), live(Some((T::Started, 3))), lost.clone(), false),
        (Some(&eof), live(Some((T::Queued, 2))), Some(End::Eof), false),
        (Some(&broke), live(Some((T::Queued, 2))), x.clone(), false),
        // When nobody will.
        (Some(&open), standing(R::Failed, P::Failed, Some((T::Failed, 2))), lost.clone(), true),
        (Some(&open), standing(R::Cancelled, P::Started, Some((T::Started, 2))), lost, true),
        (Some(&broke), standing(R::Failed, P::Failed, Some((T::Failed, 2))), x, true),
        (
            Some(&eof),
            standing(R::Completed, P::Completed, Some((T::Completed, 2))),
            Some(End::Eof),
            true,
        ),
    ] {
        let expected = Outlook { end, is_over };
        assert_eq!(Outlook::of(row, Some(owner)), expected, "{row:?} of {owner:?}");
    }
    let of_its_own = |row| Outlook::of(row, None);
    assert_eq!(of_its_own(None), Outlook { end: None, is_over: false });
    assert_eq!(of_its_own(Some(&eof)), Outlook { end: Some(End::Eof), is_over: true });
}

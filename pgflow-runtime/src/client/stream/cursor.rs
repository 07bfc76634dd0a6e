//! Where a reader is, and what it makes of a page.

use pgflow_machine::log::End;

use crate::backend::{Chunk, StreamPage};

/// Where a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// With what is latest, or with everything.
    First,
    /// With this number.
    At(u64),
    /// With the last so many.
    Last(u64),
}

/// What the last item of a reader says whose stream is not there any more.
const DELETED: &str = "it was deleted";

/// What a reader is to pass on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum News {
    Chunk(Chunk),
    Restarted(u32),
    Ended(End),
}

/// Where a reader is.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    begin: Begin,
    all: bool,
    /// The number of the next chunk, once it is known.
    at: Option<u64>,
    /// The generation that was seen last; 0 if none was.
    generation: u32,
    /// Which stream of a name it reads, once that is there.
    id: Option<i64>,
}

impl Cursor {
    pub(super) fn new(begin: Begin, all: bool) -> Self {
        Self { begin, all, at: None, generation: 0, id: None }
    }

    /// The number to read from; nothing if it is to be told first where the stream stands.
    pub(super) fn at(&self) -> Option<u64> {
        self.at
    }

    /// Whether the page is of the stream that it reads. What others have read may be of one that is not there any more.
    pub(super) fn is_of(&self, page: &StreamPage) -> bool {
        self.id == page.id
    }

    /// Takes what is new in a page. Chunks that it is not at are left out: they are asked for again.
    pub(super) fn take(&mut self, page: StreamPage) -> Vec<News> {
        if self.id.is_some() && !self.is_of(&page) {
            return vec![News::Ended(End::error(DELETED))];
        }
        self.id = page.id;
        let mut news = Vec::new();
        let mut at = match self.at {
            Some(at) => at,
            None => self.settle(&page),
        };
        if !self.all && page.generation > self.generation {
            // Whoever was told nothing before, and does not begin in the middle, misses nothing.
            if self.generation > 0 || at < page.begins_at {
                news.push(News::Restarted(page.generation));
                at = page.begins_at;
            }
            self.generation = page.generation;
        }
        for chunk in page.chunks {
            if chunk.number != at {
                continue;
            }
            if chunk.generation > self.generation {
                if self.generation > 0 {
                    news.push(News::Restarted(chunk.generation));
                }
                self.generation = chunk.generation;
            }
            at += 1;
            news.push(News::Chunk(chunk));
        }
        self.at = Some(at);
        if page.is_over && at >= page.next {
            news.push(News::Ended(page.end.unwrap_or(End::Eof)));
        }
        news
    }

    /// Where it begins in a stream that stands like this.
    fn settle(&self, page: &StreamPage) -> u64 {
        let first = if self.all { 0 } else { page.begins_at };
        match self.begin {
            Begin::First => first,
            Begin::At(number) => number,
            Begin::Last(many) => page.next.saturating_sub(many).max(first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks by their generations, from `from` on.
    fn page(generations: &[u32], from: usize, is_over: bool) -> StreamPage {
        let chunk = |(number, generation): (usize, &u32)| Chunk {
            number: number as u64,
            generation: *generation,
            data: Vec::new(),
        };
        let generation = generations.last().copied().unwrap_or_default();
        let begins_at = generations.iter().take_while(|other| **other < generation).count();
        StreamPage {
            chunks: generations.iter().enumerate().skip(from).map(chunk).collect(),
            id: None,
            next: generations.len() as u64,
            generation,
            begins_at: begins_at as u64,
            end: is_over.then_some(End::Eof),
            is_over,
        }
    }

    fn words(news: Vec<News>) -> Vec<String> {
        let word = |news| match news {
            News::Chunk(chunk) => chunk.number.to_string(),
            News::Restarted(generation) => format!("restarted {generation}"),
            News::Ended(end) => end.to_string(),
        };
        news.into_iter().map(word).collect()
    }

    #[test]
    fn a_reader_begins_where_it_wants_to() {
        let begin =
            |begin, all| words(Cursor::new(begin, all).take(page(&[1, 1, 2, 2, 2], 0, true)));
        assert_eq!(begin(Begin::First, false), ["2", "3", "4", "end of stream"]);
        assert_eq!(
            begin(Begin::First, true),
            ["0", "1", "restarted 2", "2", "3", "4", "end of stream"]
        );
        assert_eq!(begin(Begin::At(4), false), ["4", "end of stream"]);
        assert_eq!(begin(Begin::At(9), false), ["end of stream"]);
        assert_eq!(begin(Begin::At(1), false), ["restarted 2", "2", "3", "4", "end of stream"]);
        assert_eq!(begin(Begin::Last(2), false), ["3", "4", "end of stream"]);
        assert_eq!(begin(Begin::Last(9), false), ["2", "3", "4", "end of stream"]);
        assert_eq!(begin(Begin::Last(0), false), ["end of stream"]);
    }

    #[test]
    fn another_attempt_is_told() {
        let mut cursor = Cursor::new(Begin::First, false);
        assert_eq!(words(cursor.take(page(&[1, 1], 0, false))), ["0", "1"]);
        assert_eq!(cursor.at(), Some(2));
        let more = page(&[1, 1, 1, 2, 2], 2, false);
        assert_eq!(words(cursor.take(more)), ["restarted 2", "3", "4"]);
        let silent = StreamPage { generation: 3, begins_at: 5, ..page(&[1, 1, 1, 2, 2], 5, true) };
        assert_eq!(words(cursor.take(silent)), ["restarted 3", "end of stream"]);
    }

    #[test]
    fn nothing_is_told_twice_and_nothing_is_left_out() {
        let mut cursor = Cursor::new(Begin::First, false);
        cursor.take(page(&[0, 0, 0], 0, false));
        assert_eq!(words(cursor.take(page(&[0, 0, 0, 0], 1, false))), ["3"], "what it has seen");
        assert_eq!(words(cursor.take(page(&[0; 9], 6, true))), [""; 0], "what comes later");
        assert_eq!(cursor.at(), Some(4));
    }

    #[test]
    fn a_stream_that_is_another_one_now_has_ended() {
        let of = |id, page| StreamPage { id, ..page };
        for now in [None, Some(2)] {
            let mut cursor = Cursor::new(Begin::First, false);
            assert_eq!(words(cursor.take(of(None, page(&[], 0, false)))), [""; 0], "not there yet");
            assert_eq!(words(cursor.take(of(Some(1), page(&[0, 0], 0, false)))), ["0", "1"]);
            let another = of(now, page(&[0, 0, 0], 2, false));
            assert!(!cursor.is_of(&another));
            assert_eq!(words(cursor.take(another)), ["it was deleted"]);
        }
    }
}

//! What permits promise.

mod batches;
mod plans;
mod rates;

use crate::Timestamp;
use crate::permit::{Units, Waiting};

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(1_800_000_000_000_000 + micros)
}

/// Small numbers that are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn waiting(name: &str, since: i64, bytes: u64) -> Waiting {
    Waiting {
        job: name.parse().expect("a name"),
        priority: 0,
        seq: since,
        since: at(since),
        bytes,
        batch_key: None,
        resources: Units::new(),
        not_before: None,
        streak: 0,
    }
}

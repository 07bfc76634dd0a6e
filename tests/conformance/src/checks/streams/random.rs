//! Random commands, compared with memory, which does what `pgflow-machine` decides.

use std::collections::BTreeMap;
use std::sync::Arc;

use pgflow_machine::log::{Append, CloseStream, End, StreamKey, Writer};
use pgflow_machine::{Limits, RunId, Settle, TaskKey, TaskLease, WorkerId};
use pgflow_model::FlowShape;
use pgflow_runtime::backend::{Backend, Claim, FlowVersion, NewRun, PageSize, StreamPage};
use pgflow_runtime::memory::Memory;

use crate::Check;
use crate::check::check;
use crate::differential::{Random, seed_from_env};
use crate::kit::{Cx, failed, options, single};

pub(crate) const CHECKS: &[Check] = &[check!(
    "S29",
    "random commands lead to what they lead to in memory",
    same_as_memory,
    Streams
)];

/// Both backends, and what is written in them.
struct Pair {
    both: [Arc<dyn Backend>; 2],
    flow: String,
    run: RunId,
    named: StreamKey,
    attempt: u32,
    is_held: bool,
    /// What each writer has sent to each stream.
    sent: BTreeMap<String, u64>,
}

async fn same_as_memory(cx: Arc<Cx>) {
    let seed = seed_from_env();
    for round in 0..cx.rounds(2, 40) as u64 {
        let mut random = Random::new(seed.wrapping_add(round));
        let mut pair = Pair::new(&cx).await;
        for step in 0..60 {
            let what = pair.play(&mut random).await;
            pair.compare(&format!("step {step}, {what}, PGFLOW_TEST_SEED={seed}")).await;
        }
    }
}

impl Pair {
    async fn new(cx: &Arc<Cx>) -> Self {
        let (flow, run) = (cx.name(), RunId::new());
        let shape = FlowShape {
            options: options(1_000, 0, 1_000),
            steps: vec![single("a")],
            ..FlowShape::new(&flow)
        };
        let version = FlowVersion { flow: flow.clone(), version: 1, slug: flow.clone(), shape };
        let both = [cx.backend(), Arc::new(Memory::new()) as Arc<dyn Backend>];
        for backend in &both {
            backend.ensure_flow(&version).await.expect("a flow");
            backend.start(NewRun::new(&flow, 1, run)).await.expect("a run");
        }
        cx.remember(run);
        let named = StreamKey::named(&cx.name()).expect("a name");
        Self { both, flow, run, named, attempt: 0, is_held: false, sent: BTreeMap::new() }
    }

    fn task(&self) -> TaskKey {
        TaskKey { run: self.run, step: "a".to_owned(), index: 0 }
    }

    /// Does the same to both, who say the same; returns what it was.
    async fn play(&mut self, random: &mut Random) -> String {
        if random.chance(15) {
            return self.hand_on().await;
        }
        let is_named = random.chance(50);
        let stream = if is_named { self.named.clone() } else { StreamKey::Task(self.task()) };
        let attempt = (self.attempt + 1).saturating_sub(*random.pick(&[0, 1, 1, 1, 1, 2]));
        let writer = match is_named {
            // Sometimes of the other kind.
            kind if kind != random.chance(3) => {
                let name: &&str = random.pick(&["ann", "bob"]);
                Writer::named(name).expect("a name")
            }
            _ => Writer::Attempt(attempt),
        };
        if random.chance(if is_named { 2 } else { 10 }) {
            return self.close(&stream, writer, random).await;
        }
        self.append(&stream, writer, random).await
    }

    async fn append(&mut self, stream: &StreamKey, writer: Writer, random: &mut Random) -> String {
        let sent = self.sent.entry(format!("{stream} {writer}")).or_default();
        // Mostly the next one, or some that are there; at times one is left out.
        let first = (*sent + 1).saturating_sub(*random.pick(&[0, 1, 1, 1, 2, 4]));
        let chunk = |_| (0..random.below(5)).map(|_| b'x').collect::<Vec<u8>>();
        let chunks: Vec<_> = (0..4).map(chunk).collect();
        let many = random.below(5);
        let append = Append::new(stream, writer, first, &chunks[..many], Limits::default());
        let what = format!("{append:?}");
        let mut said = Vec::new();
        for backend in &self.both {
            let streams = backend.streams().expect("streams");
            said.push(streams.append(&append).await.expect("an outcome"));
        }
        assert_eq!(said[0], said[1], "{what}");
        *sent += said[0].as_ref().map_or(0, |appended| appended.chunks);
        what
    }

    async fn close(&self, stream: &StreamKey, writer: Writer, random: &mut Random) -> String {
        let end = if random.chance(50) { End::Eof } else { End::error("broke") };
        let close = CloseStream::new(stream, writer, &end);
        let what = format!("{close:?}");
        let mut said = Vec::new();
        for backend in &self.both {
            let streams = backend.streams().expect("streams");
            said.push(streams.close_stream(&close).await.expect("an outcome"));
        }
        assert_eq!(said[0], said[1], "{what}");
        what
    }

    /// The next attempt has the task, or nobody.
    async fn hand_on(&mut self) -> String {
        for backend in &self.both {
            if self.is_held {
                let lease = TaskLease { task: self.task(), attempt: self.attempt };
                let settle = Settle { lease: lease.into(), verdict: failed("oh") };
                backend.settle(&[settle], None).await.expect("a settle");
            } else {
                let claim = Claim::of_queues([&*self.flow], 1, WorkerId::new());
                let claimed = backend.claim(&claim).await.expect("a claim");
                assert_eq!(claimed.tasks.len(), 1, "the task can be claimed");
            }
        }
        self.attempt += u32::from(!self.is_held);
        self.is_held = !self.is_held;
        format!("attempt {} has it: {}", self.attempt, self.is_held)
    }

    async fn compare(&self, what: &str) {
        for stream in [&self.named, &StreamKey::Task(self.task())] {
            let mut seen = Vec::new();
            for backend in &self.both {
                let streams = backend.streams().expect("streams");
                let size = PageSize { chunks: 1_000, bytes: 1 << 20 };
                let page = streams.read_stream(stream, 0, size).await.expect("a page");
                // Each counts streams for itself.
                seen.push(page.map(|page| StreamPage { id: page.id.map(|_| 0), ..page }));
            }
            assert_eq!(seen[0], seen[1], "{stream} after {what}");
        }
    }
}

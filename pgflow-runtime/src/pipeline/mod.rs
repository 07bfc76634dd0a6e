//! Pipelines: messages of durable queues, one by one and in batches.
//!
//! A [`Queue`] is a need of [jobs](crate::job) and a message is a job, so nothing that a worker holds in memory is the only copy
//! of anything. Batches are formed by the claim, over all processes; a batch is settled in one transaction, with the
//! messages that it emits.
//!
//! ```
//! use std::time::Duration;
//! use pgflow::pipeline::{Batch, Pipeline, Queue};
//! use pgflow::testing::TestPipeline;
//!
//! # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
//! let words = Queue::<String>::named("words");
//! let lengths = Queue::<usize>::named("lengths");
//! let pipeline = Pipeline::new("measure", &words)
//!     .process(|word, _ctx| async move { Ok(word.trim().to_owned()) })
//!     .batch(Batch::len(2).wait(Duration::from_secs(1)), |batch, _ctx| async move {
//!         Ok(batch.settle(|_, word| Ok(word.len())))
//!     })
//!     .emit(&lengths, |length| [*length]);
//!
//! let mut test = TestPipeline::new(pipeline);
//! for word in ["one", " three ", "eleven"] {
//!     test.push(&words, &word.to_owned())?;
//! }
//! test.run();
//! assert_eq!(test.batches(), ["2 by size"]);
//! test.advance(Duration::from_secs(1));
//! assert_eq!(test.batches(), ["2 by size", "1 by timeout"]);
//! assert_eq!(test.waiting(&lengths)?, [3, 5, 6]);
//! # Ok(())
//! # }
//! ```

mod batch;
mod batched;
mod builder;
mod client;
mod code;
mod context;
mod dead;
mod handler;
mod items;
mod onward;
mod preload;
mod processed;
mod queue;
mod sink;
mod spec;
mod transaction;

pub use batch::Batch;
pub use batched::Batched;
pub use builder::{Pipeline, Preloaded};
pub use client::{DeadLetters, QueueHandle, QueueStats, RateHandle, ResourceHandle};
pub use code::InTx;
pub use context::MessageContext;
pub use dead::{Dead, DeadMessage};
pub use items::{Items, Settled};
pub use pgflow_machine::permit::{Bucket, FormedBatches, PermitProblem, Rate, Resource, Trigger};
pub use processed::Processed;
pub use queue::{OnFailure, Queue};
pub use sink::QueueSink;
pub use spec::PipelineSpec;

pub(crate) use client::prune_dead;
pub(crate) use code::{BoxFuture, Work};
pub(crate) use handler::{Keeping, Pipelines, check_all, declare, word_of};
pub(crate) use spec::StageSpec;
pub(crate) use transaction::{Made, Opens, StageWork, settles};

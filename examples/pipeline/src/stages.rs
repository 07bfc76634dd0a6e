//! Documents → chunks → embeddings in batches, on a "GPU" of which there is one → an index.

use std::time::Duration;

use pgflow::pipeline::{Batch, Pipeline, Queue};
use pgflow::prelude::*;

/// Short, so that the work of a process that is killed is soon another's.
const LEASE: Duration = Duration::from_secs(3);

/// A document of somebody.
#[data]
#[derive(Clone)]
pub(crate) struct Doc {
    pub(crate) tenant: String,
    pub(crate) text: String,
}

/// A part of a document, for a model.
#[data]
#[derive(Clone)]
pub(crate) struct Chunk {
    pub(crate) model: String,
    pub(crate) text: String,
}

/// What the index is made of.
#[data]
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) text: String,
    pub(crate) vector: Vec<f32>,
}

/// Whoever brings many documents does not keep others waiting.
pub(crate) fn docs() -> Queue<Doc> {
    Queue::named("docs").fair_by(|doc: &Doc| doc.tenant.clone())
}

/// A batch is for one model.
pub(crate) fn chunks() -> Queue<Chunk> {
    Queue::named("chunks").batch_by(|chunk: &Chunk| chunk.model.clone())
}

pub(crate) fn index() -> Queue<Entry> {
    Queue::named("index")
}

/// A worker with all three pipelines.
pub(crate) fn worker(db: &Db) -> Worker {
    let split = Pipeline::new("split", &docs())
        .concurrency(4)
        .lease(LEASE)
        .process(|doc, _ctx| async move {
            let model = if doc.text.len() > 80 { "large" } else { "small" };
            let chunk = |text: &str| Chunk { model: model.to_owned(), text: text.to_owned() };
            Ok(doc.text.split(". ").map(chunk).collect::<Vec<_>>())
        })
        .emit(&chunks(), std::clone::Clone::clone);
    let batch = Batch::len(16).wait(Duration::from_millis(250)).resource("gpu", 1).lease(LEASE);
    let embed = Pipeline::new("embed", &chunks())
        .batch(batch, |batch, ctx| async move {
            let (len, trigger) = (batch.len(), batch.trigger().map_or("", |why| why.word()));
            println!(
                "  gpu, grant {}: a batch of {len}, by {trigger}",
                ctx.fence("gpu").unwrap_or(0)
            );
            tokio::time::sleep(Duration::from_millis(60)).await;
            Ok(batch.settle_all(|chunk| Entry { vector: embed(&chunk.text), text: chunk.text }))
        })
        .emit(&index(), |entry| [entry.clone()]);
    let store = Pipeline::new("store", &index())
        .lease(LEASE)
        .process(|entry, _ctx| async move { Ok(entry.vector.len()) });
    Worker::new(db).pipeline(split).pipeline(embed).pipeline(store)
}

/// Not a good model.
fn embed(text: &str) -> Vec<f32> {
    let count = |letter: char| text.chars().filter(|c| *c == letter).count();
    ['a', 'e', 'i', 'o']
        .map(|letter| f32::from(u16::try_from(count(letter)).unwrap_or(u16::MAX)))
        .to_vec()
}

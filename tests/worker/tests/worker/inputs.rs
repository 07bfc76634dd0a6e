//! A run is started with its input, or with a reference to it, and the flow says of which type that is: what is
//! collected, converted or defaulted on the spot needs no annotation.

use std::sync::Arc;

use pgflow::prelude::*;
use pgflow::{RunId, client::Parts};
use pgflow_worker_tests::Outcome;

#[flow(slug = "inputs_list", input = Vec<u64>)]
mod list {
    use super::*;

    #[step]
    pub(crate) async fn sum(run: Vec<u64>) -> Result<u64> {
        Ok(run.iter().sum())
    }
}

#[flow(slug = "inputs_text", input = String)]
mod text {
    use super::*;

    #[step]
    pub(crate) async fn same(run: String) -> Result<String> {
        Ok(run)
    }
}

#[flow(slug = "inputs_nothing")]
mod nothing {
    use super::*;

    #[step]
    pub(crate) async fn one() -> Result<u8> {
        Ok(1)
    }
}

#[job]
mod letter {
    use super::*;

    #[need]
    pub(crate) async fn fold(job: Vec<u8>, ctx: JobContext) -> Result<Next> {
        ctx.submit::<send>(&job.len().to_string())?;
        Ok(Next::to::<send>("collected".into()))
    }

    #[need]
    pub(crate) async fn send(job: String) -> Result<Next> {
        Ok(Next::done(job))
    }
}

#[expect(clippy::default_trait_access, reason = "whether the type is known is what is tested")]
async fn start_all(db: Db, name: &String) -> Outcome<Vec<RunId>> {
    Ok(vec![
        db.start(list::Flow, vec![1, 2]).await?.id(),
        db.start(list::Flow, &vec![1, 2]).await?.id(),
        db.start(list::Flow, &(0..3).collect()).await?.id(),
        db.start(text::Flow, name).key("order 7").await?.id(),
        db.start(text::Flow, name.clone()).await?.id(),
        db.start(text::Flow, &"mug".into()).await?.id(),
        db.start(text::Flow, &Default::default()).await?.id(),
        db.start(nothing::Flow, ()).await?.id(),
        db.start(nothing::Flow, &()).await?.id(),
    ])
}

async fn submit_all(db: Db, shared: Arc<String>) -> Outcome<usize> {
    let jobs = [
        db.submit::<letter::fold>(&vec![1, 2]).await?,
        db.submit::<letter::send>(&shared).await?,
        db.submit::<letter::send>(&*shared).await?,
    ];
    Ok(jobs.len() + db.submit_all::<letter::fold>([vec![], vec![3]]).await?.len())
}

#[tokio::test]
async fn inputs_and_payloads_are_of_the_type_that_is_asked_for() -> Outcome {
    let db = Db::connect("memory:").await?;
    db.register(list::Flow).await?;
    db.register(text::Flow).await?;
    db.register(nothing::Flow).await?;
    // In a task of its own: such futures can be sent between threads.
    let of = db.clone();
    let started = tokio::spawn(async move { start_all(of, &"Ann".to_owned()).await }).await??;
    assert_eq!(started.len(), 9);
    let collected = db.record(started[2], Parts::Run).await?;
    assert_eq!(collected.input, Some(serde_json::json!([0, 1, 2])));
    let submitted = tokio::spawn(submit_all(db, Arc::default())).await??;
    assert_eq!(submitted, 5);
    Ok(())
}

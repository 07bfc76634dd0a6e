//! Steps that wait for runs and jobs, through a worker and a client.

use pgflow::prelude::*;
use pgflow::{
    RunId, RunStatus,
    client::RunQuery,
    wait::{Outcome as Ended, WaitingFor},
};
use pgflow_worker_tests::{Fresh, Outcome, Working, everywhere};

use crate::waits::{ended, until};

#[flow(input = i64, base_delay = 0, max_attempts = 1)]
mod invoice {
    use super::*;

    /// A negative one fails, and 0 waits until somebody says how much.
    #[step]
    pub(crate) async fn total(run: i64, hook: Hook<i64>, ctx: Context) -> Result<Waiting<i64>> {
        match run {
            0 => Ok(hook.wait()),
            ..0 => Err(format!("{run} is not an amount, on attempt {}", ctx.attempt()).into()),
            _ => Ok(Hook::named(format!("total-{run}-{}", ctx.run_id()))?.wait()),
        }
    }
}

#[flow(input = i64)]
mod plain {
    use super::*;

    #[step]
    pub(crate) async fn double(run: i64) -> Result<i64> {
        if run < 0 { Err(Error::fatal("not an amount")) } else { Ok(run * 2) }
    }
}

#[flow(input = i64, base_delay = 0)]
mod order {
    use super::*;

    #[step(max_attempts = 2)]
    pub(crate) async fn bill(run: i64, ctx: Context) -> Result<Waiting<plain::Output>> {
        Ok(ctx.run(plain::Flow, &run).await?.wait())
    }

    #[step(depends_on = [bill])]
    pub(crate) async fn pay(bill: plain::Output) -> Result<i64> {
        Ok(bill.double)
    }
}

#[flow(input = Vec<i64>)]
mod orders {
    use super::*;

    #[step]
    pub(crate) async fn all(
        run: Vec<i64>,
        ctx: Context,
    ) -> Result<Waiting<Vec<Ended<plain::Output>>>> {
        Ok(ctx.run_all(plain::Flow, run).await?.outcomes())
    }

    #[step(depends_on = [all])]
    pub(crate) async fn texts(all: Vec<Ended<plain::Output>>) -> Result<Vec<String>> {
        let text = |one: Ended<plain::Output>| match one.into_result() {
            Ok(output) => output.double.to_string(),
            Err(error) => format!("{:?}: {error}", error.status),
        };
        Ok(all.into_iter().map(text).collect())
    }
}

#[flow(input = bool)]
mod patience {
    use super::*;

    #[step]
    pub(crate) async fn bill(run: bool, ctx: Context) -> Result<Waiting<invoice::Output>> {
        let child = ctx.run(invoice::Flow, 0).await?;
        Ok(if run { child.detached() } else { child }.wait())
    }
}

#[job]
mod page {
    use super::*;

    #[need]
    pub(crate) async fn scan(job: u32) -> Result<Next> {
        Ok(Next::done(format!("page {job}")))
    }
}

#[flow(input = u32)]
mod book {
    use super::*;

    #[step]
    pub(crate) async fn pages(run: u32, ctx: Context) -> Result<Waiting<Vec<String>>> {
        Ok(ctx.submit_all::<page::scan>(0..run).await?.wait())
    }

    #[step]
    pub(crate) async fn cover(ctx: Context) -> Result<Waiting<String>> {
        Ok(ctx.submit::<page::scan>(&99).await?.wait())
    }
}

#[flow(input = u32, max_attempts = 1)]
mod misread {
    use super::*;

    #[step]
    pub(crate) async fn pages(run: u32, ctx: Context) -> Result<Waiting<Vec<u32>>> {
        Ok(ctx.submit_all::<page::scan>(0..run).await?.wait())
    }
}

async fn worker(fresh: &Fresh) -> Outcome<Working> {
    let db = &fresh.db;
    db.register(plain::Flow).await?;
    db.register(order::Flow).await?;
    db.register(orders::Flow).await?;
    db.register(invoice::Flow).await?;
    db.register(patience::Flow).await?;
    db.register(book::Flow).await?;
    db.register(misread::Flow).await?;
    let worker = Worker::new(db).flow(plain::Flow).flow(order::Flow).flow(orders::Flow);
    let worker = worker.flow(invoice::Flow).flow(patience::Flow).flow(book::Flow);
    let worker = worker.flow(misread::Flow);
    Ok(Working::start(worker.job(page::Job)))
}

/// The runs of a flow, the newest first.
async fn runs_of(fresh: &Fresh, flow: &str) -> Outcome<Vec<(RunId, RunStatus)>> {
    let query = RunQuery { flows: vec![flow.to_owned()], ..RunQuery::default() };
    let page = fresh.db.list(&query).await?;
    Ok(page.runs.iter().map(|run| (run.id, run.status)).collect())
}

async fn a_step_puts_out_what_its_child_does(fresh: Fresh) -> Outcome {
    let working = worker(&fresh).await?;
    let run = fresh.db.start(order::Flow, 21).await?;
    assert_eq!(ended(&run).await?, RunStatus::Completed);
    assert_eq!(run.output().await?.pay, 42);
    assert_eq!(runs_of(&fresh, "plain").await?.len(), 1);
    working.stop().await?;
    Ok(())
}

async fn a_child_that_fails_fails_the_attempt(fresh: Fresh) -> Outcome {
    let working = worker(&fresh).await?;
    let run = fresh.db.start(order::Flow, -1).await?;
    assert_eq!(ended(&run).await?, RunStatus::Failed);
    let children = runs_of(&fresh, "plain").await?;
    assert_eq!(children.len(), 2, "a retry starts a new child: {children:?}");
    let error = run.output().await.expect_err("it has failed").to_string();
    let child = children.iter().find(|(id, _)| error.contains(&format!("child run {id} failed")));
    assert!(child.is_some() && error.contains("not an amount"), "{error}");
    working.stop().await?;
    Ok(())
}

async fn how_several_children_ended_can_be_the_output(fresh: Fresh) -> Outcome {
    let working = worker(&fresh).await?;
    let run = fresh.db.start(orders::Flow, vec![1, -1, 3]).await?;
    assert_eq!(ended(&run).await?, RunStatus::Completed);
    assert_eq!(run.output().await?.texts, ["2", "Failed: not an amount", "6"]);
    let none = fresh.db.start(orders::Flow, Vec::new()).await?;
    assert_eq!(ended(&none).await?, RunStatus::Completed);
    assert!(none.output().await?.texts.is_empty());
    working.stop().await?;
    Ok(())
}

async fn a_cancelled_run_takes_its_children_along(fresh: Fresh) -> Outcome {
    let working = worker(&fresh).await?;
    for detached in [false, true] {
        let run = fresh.db.start(patience::Flow, detached).await?;
        let child = until(async || match run.waits().await.ok()?.pop()?.on {
            WaitingFor::Runs(runs) => runs.first().copied(),
            _ => None,
        })
        .await;
        run.cancel(Some("changed my mind")).await?;
        let child = fresh.db.get::<invoice::Flow>(child).await?.expect("it was started");
        if detached {
            let hook = until(async || child.hooks().await.ok()?.pop()).await;
            assert_eq!(hook.task.step, "total");
            fresh.db.signal_step::<invoice::total>(child.id(), &7).await?;
            assert_eq!(ended(&child).await?, RunStatus::Completed);
        } else {
            assert_eq!(ended(&child).await?, RunStatus::Cancelled);
            let reason = child.output().await.expect_err("it was cancelled").to_string();
            assert!(reason.contains(&format!("parent run {} was cancelled", run.id())), "{reason}");
        }
    }
    working.stop().await?;
    Ok(())
}

async fn a_step_puts_out_what_its_jobs_are_done_with(fresh: Fresh) -> Outcome {
    let working = worker(&fresh).await?;
    let run = fresh.db.start(book::Flow, 3).await?;
    assert_eq!(ended(&run).await?, RunStatus::Completed);
    let book::Output { pages, cover } = run.output().await?;
    assert_eq!(
        (pages, cover),
        (["page 0", "page 1", "page 2"].map(str::to_owned).to_vec(), "page 99".to_owned())
    );
    working.stop().await?;
    Ok(())
}

async fn what_a_step_cannot_read_of_its_jobs_fails_it(fresh: Fresh) -> Outcome {
    let working = worker(&fresh).await?;
    let run = fresh.db.start(misread::Flow, 2).await?;
    for is_again in [false, true] {
        if is_again {
            run.retry().await?;
        }
        assert_eq!(ended(&run).await?, RunStatus::Failed);
        let error = run.output().await.expect_err("it has failed").to_string();
        let sentence = "cannot read what it waited for at /0: expected integer, found string";
        assert!(error.contains(sentence), "{error}");
    }
    working.stop().await?;
    Ok(())
}

everywhere!(
    a_step_puts_out_what_its_child_does,
    a_child_that_fails_fails_the_attempt,
    how_several_children_ended_can_be_the_output,
    a_cancelled_run_takes_its_children_along,
    a_step_puts_out_what_its_jobs_are_done_with,
    what_a_step_cannot_read_of_its_jobs_fails_it,
);

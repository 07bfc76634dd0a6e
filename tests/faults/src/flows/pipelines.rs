//! Pipelines: what their workers do in experiments.

use std::time::Duration;

use pgflow::Worker;
use pgflow::pipeline::{Batch, OnFailure, Pipeline, Queue, Rate};

use super::App;
use super::app::write_in;
use crate::harness::What;

/// A worker that is killed is not waited for longer than this.
pub(crate) const LEASE: Duration = Duration::from_secs(2);

/// What a second may have at most.
pub(crate) const AMOUNT: u32 = 10;
pub(crate) const BURST: u32 = 5;

/// What a minute may have at most, where it is about minutes.
pub(crate) const OF_A_MINUTE: u32 = 60;

/// How long a batch of few waits for more.
pub(crate) const WAIT: Duration = Duration::from_secs(2);

/// The batches that arrive at random.
pub(crate) const FEW: u32 = 8;
pub(crate) const A_WHILE: Duration = Duration::from_millis(400);

/// The message that ends whoever works on it.
pub(crate) const POISON: u32 = 13;

/// What everything here is about. No message dies of the workers that are killed.
pub(crate) fn numbers() -> Queue<u32> {
    Queue::named("numbers").attempts(10_000)
}

/// What is emitted.
pub(crate) fn parts() -> Queue<u32> {
    Queue::named("parts")
}

/// Messages that have one attempt each.
pub(crate) fn once() -> Queue<u32> {
    Queue::named("once").attempts(1)
}

/// Messages by key, in order: number and key.
pub(crate) fn orders() -> Queue<(u32, String)> {
    Queue::named("orders")
        .attempts(10_000)
        .serial_by(|order: &(u32, String)| order.1.clone(), OnFailure::Block)
}

/// Messages by key, none of which starves the others.
pub(crate) fn crowd() -> Queue<(u32, String)> {
    Queue::named("crowd").fair_by(|order: &(u32, String)| order.1.clone())
}

/// Messages that have more attempts each than a job may lose workers.
pub(crate) fn often() -> Queue<u32> {
    Queue::named("often").attempts(8)
}

/// Messages that have three attempts each.
pub(crate) fn thrice() -> Queue<u32> {
    Queue::named("thrice").attempts(3)
}

/// A worker with one more pipeline.
pub(crate) fn serve(worker: Worker, name: &str, app: &App) -> Option<Worker> {
    let app = app.clone();
    Some(match name {
        "gpu" => worker.pipeline(
            Pipeline::new("gpu", &numbers()).resource("gpu", 1).lease(LEASE).process(
                move |number, ctx| {
                    let app = app.clone();
                    async move {
                        app.journal.note_message(What::Entered, number, &ctx)?;
                        tokio::time::sleep(Duration::from_millis(60)).await;
                        Ok(number)
                    }
                },
            ),
        ),
        "parts" => worker.pipeline(
            Pipeline::new("parts", &numbers())
                .lease(LEASE)
                .process_in(move |number, ctx, tx| {
                    let app = app.clone();
                    Box::pin(async move {
                        app.journal.note_message(What::Entered, number, &ctx)?;
                        write_in(tx, number, ctx.attempt()).await?;
                        tokio::time::sleep(Duration::from_millis(u64::from(number % 8))).await;
                        Ok(number)
                    })
                })
                .emit(&parts(), |number| [*number * 3, *number * 3 + 1, *number * 3 + 2]),
        ),
        "batch" => worker.pipeline(Pipeline::new("batch", &numbers()).batch(
            Batch::len(32).wait(WAIT).lease(LEASE),
            move |batch, ctx| {
                let (app, many) = (app.clone(), batch.len());
                async move {
                    app.journal.note_message(What::Entered, u32::try_from(many)?, &ctx)?;
                    Ok(batch.settle_all(|number| number))
                }
            },
        )),
        "rate" | "minutes" => {
            let rate = if name == "rate" {
                Rate::per_second(AMOUNT)
            } else {
                Rate::per_minute(OF_A_MINUTE)
            };
            worker.pipeline(
                Pipeline::new("rate", &numbers())
                    .lease(LEASE)
                    .rate("calls", rate.burst(BURST))
                    .process(|number, _ctx| async move { Ok(number) }),
            )
        }
        "once" => {
            worker.pipeline(Pipeline::new("once", &once()).concurrency(3).prefetch(4).process(
                move |number, ctx| {
                    let app = app.clone();
                    async move {
                        app.journal.note_message(What::Entered, number, &ctx)?;
                        while !app.is_open("go") {
                            tokio::time::sleep(Duration::from_millis(10)).await;
                        }
                        Ok(number)
                    }
                },
            ))
        }
        _ => return serve_more(worker, name, app),
    })
}

/// The same, for those that are about batches and keys.
fn serve_more(worker: Worker, name: &str, app: App) -> Option<Worker> {
    Some(match name {
        "arrivals" => worker.pipeline(Pipeline::new("arrivals", &numbers()).batch(
            Batch::len(FEW).wait(A_WHILE),
            move |batch, ctx| {
                let app = app.clone();
                async move {
                    for number in batch.items() {
                        app.journal.note_message(What::Entered, *number, &ctx)?;
                    }
                    Ok(batch.settle_all(|number| number))
                }
            },
        )),
        "full" | "flush" => {
            let pipeline = Pipeline::new("full", &numbers());
            let pipeline = if name == "flush" { pipeline.flush() } else { pipeline };
            worker.pipeline(pipeline.batch(
                Batch::len(32).wait(Duration::from_hours(1)),
                move |batch, ctx| {
                    let (app, many) = (app.clone(), batch.len());
                    async move {
                        app.journal.note_message(What::Entered, u32::try_from(many)?, &ctx)?;
                        Ok(batch.settle_all(|number| number))
                    }
                },
            ))
        }
        "held" => worker.pipeline(Pipeline::new("held", &once()).batch(
            Batch::len(5).wait(Duration::from_hours(1)),
            move |batch, ctx| {
                let app = app.clone();
                async move {
                    app.journal.note_message(What::Entered, u32::try_from(batch.len())?, &ctx)?;
                    while !app.is_open("go") {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                    Ok(batch.settle_all(|number| number))
                }
            },
        )),
        "orders" | "flood" => {
            let queue = if name == "orders" { orders() } else { crowd() };
            worker.pipeline(Pipeline::new("orders", &queue).lease(LEASE).process(
                move |(number, _key), ctx| {
                    let app = app.clone();
                    async move {
                        app.journal.note_message(What::Entered, number, &ctx)?;
                        tokio::time::sleep(Duration::from_millis(2)).await;
                        Ok(number)
                    }
                },
            ))
        }
        "poison" => {
            worker.pipeline(Pipeline::new("poison", &often()).lease(LEASE).process(
                move |number, ctx| {
                    let app = app.clone();
                    async move {
                        app.journal.note_message(What::Entered, number, &ctx)?;
                        // Its neighbours are at work, too.
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        if number == POISON {
                            std::process::abort();
                        }
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        Ok(number)
                    }
                },
            ))
        }
        "poisoned" => worker.pipeline(Pipeline::new("poisoned", &thrice()).lease(LEASE).batch(
            Batch::len(10).wait(Duration::from_millis(100)),
            move |batch, ctx| {
                let app = app.clone();
                async move {
                    app.journal.note_message(What::Entered, u32::try_from(batch.len())?, &ctx)?;
                    if batch.items().contains(&POISON) {
                        std::process::abort();
                    }
                    Ok(batch.settle_all(|number| number))
                }
            },
        )),
        _ => return None,
    })
}

//! Spans of a worker as traces of OpenTelemetry: a run is one trace, in whichever processes its steps run.
//!
//! `cargo run -p pgflow-example-otel` prints them. With `--features otlp` they go to a collector on this machine
//! (`http://localhost:4318`, or where `OTEL_EXPORTER_OTLP_ENDPOINT` says), such as Jaeger or Grafana Tempo.

#![forbid(unsafe_code)]

mod run_traces;

use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use pgflow::prelude::*;
use pgflow::{Db, Worker};
use tracing_subscriber::layer::SubscriberExt;

use run_traces::{RunIds, RunTraces};

#[flow(input = u32)]
mod squares {
    use super::Result;

    #[step]
    async fn numbers(run: u32) -> Result<Vec<u32>> {
        Ok((1..=run).collect())
    }

    #[step(map, depends_on = [numbers])]
    async fn square(item: u32) -> Result<u32> {
        tracing::info!(item, "multiplying");
        Ok(item * item)
    }

    #[step(depends_on = [square])]
    async fn sum(square: Vec<u32>) -> Result<u32> {
        Ok(square.iter().sum())
    }
}

type Outcome<T = ()> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[cfg_attr(
    not(feature = "otlp"),
    expect(clippy::unnecessary_wraps, reason = "a collector may be wrong")
)]
fn provider() -> Outcome<SdkTracerProvider> {
    let builder = SdkTracerProvider::builder().with_id_generator(RunIds::default());
    #[cfg(feature = "otlp")]
    let builder = builder
        .with_batch_exporter(opentelemetry_otlp::SpanExporter::builder().with_http().build()?);
    #[cfg(not(feature = "otlp"))]
    let builder = builder.with_simple_exporter(opentelemetry_stdout::SpanExporter::default());
    Ok(builder.build())
}

#[tokio::main]
async fn main() -> Outcome {
    let provider = provider()?;
    let traces = tracing_opentelemetry::layer().with_tracer(provider.tracer("pgflow"));
    // It has to hear of a span before the layer that asks for its trace.
    let subscriber = tracing_subscriber::registry().with(RunTraces).with(traces);
    tracing::subscriber::set_global_default(subscriber)?;

    let db = Db::connect("memory:").await?;
    db.register(squares::Flow).await?;
    let worker = Worker::new(&db).flow(squares::Flow).spawn();
    let run = db.start(squares::Flow, &3).await?;
    let sum = run.output().await?.sum;
    worker.stop();
    worker.await?;
    provider.shutdown()?;
    println!("{sum}, as trace {}", run.id().0.simple());
    Ok(())
}

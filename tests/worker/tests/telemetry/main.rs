//! What can be seen of a worker from outside is what the documentation says.

mod documented;
mod jobs;
mod metrics;
mod pipelines;
mod recorder;
mod spans;

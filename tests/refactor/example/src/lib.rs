//! Looks at a website and writes a report.

mod client;
mod flow;
#[cfg(test)]
mod tests;
mod types;

pub use client::{report, score, start};
pub use flow::analyze_website;
pub use types::{LinkStatus, Page, Report, Sentiment, Site};

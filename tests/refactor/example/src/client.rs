//! Starts runs, and reads what they left.

use pgflow::prelude::*;
use pgflow::definition::{DataError, RunOutputs, StartRun};

use crate::flow::analyze_website;
use crate::types::{Report, Site};

pub fn start(url: &str) -> Result<StartRun<analyze_website::Flow>, DataError> {
    let site = Site { url: url.to_owned() };
    analyze_website::Flow::start(&site)
}

pub fn report(run: &RunOutputs<analyze_website::Flow>) -> Result<Report, DataError> {
    let output = run.output()?;
    let report = output.report;
    Ok(report)
}

pub fn score(run: &RunOutputs<analyze_website::Flow>) -> Result<Option<i32>, DataError> {
    let sentiment = run.step::<analyze_website::sentiment>()?;
    Ok(sentiment.map(|it| it.score))
}

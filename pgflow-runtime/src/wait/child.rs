//! Runs of other flows that a step waits for.

use std::marker::PhantomData;

use serde_json::Value;

use super::{On, Outcome, Wait, Waiting};
use crate::FlowDef;
use crate::check::PutsOut;

/// A run that a step is about to wait for: it starts with the wait, in one transaction. See [`Context::run`](crate::Context::run).
#[derive(Debug)]
#[must_use = "a run starts when the step waits for it: return `.wait()`"]
pub struct ChildRun<T> {
    wait: Wait,
    of: PhantomData<fn() -> T>,
}

/// Runs that a step is about to wait for. See [`Context::run_all`](crate::Context::run_all).
#[derive(Debug)]
#[must_use = "runs start when the step waits for them: return `.wait()`"]
pub struct ChildRuns<T> {
    wait: Wait,
    of: PhantomData<fn() -> T>,
}

impl<T> ChildRun<T> {
    pub(super) fn new(flow: &'static FlowDef, input: Value) -> Self {
        let wait = Wait::on(On::Runs { flow, inputs: vec![input], each: false });
        Self { wait, of: PhantomData }
    }

    /// Goes on if the run that waits for it is cancelled or fails.
    pub fn detached(mut self) -> Self {
        self.wait.detached = true;
        self
    }

    /// Ends the attempt by waiting for it: its output is the output of the step. If it fails or is cancelled, the attempt
    /// has failed, and the next one starts a new run.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn wait<O>(self) -> Waiting<O> where Self: PutsOut<T, O> {
        Waiting::new(self.wait)
    }

    /// Ends the attempt by waiting for it, however it ends.
    pub fn outcome(self) -> Waiting<Outcome<T>> {
        Waiting::new(Wait { outcomes: true, ..self.wait })
    }
}

impl<T> ChildRuns<T> {
    pub(super) fn new(flow: &'static FlowDef, inputs: Vec<Value>) -> Self {
        Self { wait: Wait::on(On::Runs { flow, inputs, each: true }), of: PhantomData }
    }

    /// Go on if the run that waits for them is cancelled or fails.
    pub fn detached(mut self) -> Self {
        self.wait.detached = true;
        self
    }

    /// Ends the attempt by waiting for all of them: their outputs, in order, are the output of the step. If one fails or is
    /// cancelled, the attempt has failed, the others are cancelled, and the next attempt starts new runs.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn wait<O>(self) -> Waiting<O> where Self: PutsOut<Vec<T>, O> {
        Waiting::new(self.wait)
    }

    /// Ends the attempt by waiting for all of them, however they end.
    pub fn outcomes(self) -> Waiting<Vec<Outcome<T>>> {
        Waiting::new(Wait { outcomes: true, ..self.wait })
    }
}

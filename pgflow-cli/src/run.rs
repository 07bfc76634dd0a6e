//! `pgflow show RUN`.

use std::collections::HashMap;
use std::fmt::Write as _;

use pgflow_model::FlowShape;
use pgflow_runtime::backend::{Parts, RunRecord, StepRecord, StepTimes, TaskQuery};
use pgflow_runtime::client::{Moments, Why};
use pgflow_runtime::{Db, Event, Happened, RunId, StepStatus, TaskStatus};
use serde_json::{Value, json};

use crate::args::More;
use crate::database::{Reach, Times, flat, folded, plain, shapes};
use crate::error::Error;
use crate::out;

/// Events that are read at once.
const PAGE: u32 = 500;

/// What is known of a run.
pub(crate) struct Known {
    pub(crate) record: RunRecord,
    times: Vec<StepTimes>,
    /// Attempts at the task that each step ended with; of a map that failed, at one that did.
    attempts: HashMap<String, u32>,
    pub(crate) why: Why,
    shape: Option<FlowShape>,
}

pub(crate) async fn show(db: &Db, id: RunId, reach: &Reach, more: &More) -> Result<bool, Error> {
    let known = Known::read(db, id).await?;
    let (mut input, mut output) = (None, None);
    if more.input || more.output {
        let whole = db.record(id, Parts::Run).await?;
        input = whole.input.filter(|_| more.input);
        output = whole.output.filter(|_| more.output);
    }
    let events = if more.events { events(db, &known.record).await? } else { Vec::new() };
    if reach.json {
        let mut json = known.json(reach.moments(known.why.now));
        if more.input {
            json["input"] = input.unwrap_or_default();
        }
        if more.output {
            json["output"] = output.unwrap_or_default();
        }
        if more.events {
            json["events"] = events.iter().map(event).collect();
        }
        out::json(json)?;
        return Ok(true);
    }
    let times = reach.times(db).await?;
    out::text(known.text(&times))?;
    for (name, value) in [("input", input), ("output", output)] {
        if let Some(value) = value {
            out::line(format_args!("{name}: {}", plain(&format!("{value:#}"))))?;
        }
    }
    for event in &events {
        let text = said(&event.what);
        out::line(format_args!("{:>4}  {}  {text}", event.seq, times.at(event.at)))?;
    }
    Ok(true)
}

/// What happened, on a line: its kind, its step, and why.
pub(crate) fn said(what: &Happened) -> String {
    let why = what.why().map(|why| format!("  {why}")).unwrap_or_default();
    flat(&format!("{what}{why}"))
}

/// An event as JSON, with moments that people can read.
pub(crate) fn event(event: &Event) -> Value {
    let mut json = serde_json::to_value(event).unwrap_or_default();
    json["at"] = shapes::moment(Some(event.at));
    if let Happened::StepWaiting { until, .. } = &event.what {
        json["until"] = shapes::moment(*until);
    }
    json
}

async fn events(db: &Db, record: &RunRecord) -> Result<Vec<Event>, Error> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event.seq);
        let page = db.backend().events(record.id, after, PAGE).await;
        let page = page.map_err(pgflow_runtime::ClientError::from)?;
        if page.is_empty() {
            return Ok(events);
        }
        events.extend(page);
    }
}

/// How often the steps that ended were tried.
async fn attempts(db: &Db, record: &RunRecord) -> Result<HashMap<String, u32>, Error> {
    let mut attempts = HashMap::new();
    for step in &record.steps {
        let statuses = match (step.status, step.is_map) {
            (StepStatus::Completed, false) => Vec::new(),
            (StepStatus::Failed, _) => vec![TaskStatus::Failed],
            _ => continue,
        };
        let query = TaskQuery { statuses, after: None, max: 1 };
        let first = db.tasks(record.id, &step.slug, &query).await?.into_iter().next();
        attempts.extend(first.map(|task| (step.slug.clone(), task.attempts)));
    }
    Ok(attempts)
}

impl Known {
    /// Asks for all of it.
    pub(crate) async fn read(db: &Db, id: RunId) -> Result<Self, Error> {
        let record = db.record(id, Parts::Steps).await?;
        let shape = db.definition(&record.flow).await?.map(|definition| definition.shape);
        let (times, why) = (db.step_times(id).await?, db.why(id).await?);
        let attempts = attempts(db, &record).await?;
        Ok(Self { record, times, attempts, why, shape })
    }

    fn attempts_of(&self, step: &StepRecord) -> Option<u32> {
        let open = step.work.as_ref().map(|work| work.attempts);
        open.or_else(|| self.attempts.get(&step.slug).copied())
    }

    fn times_of(&self, step: &StepRecord) -> Option<&StepTimes> {
        self.times.iter().find(|times| times.slug == step.slug)
    }

    fn json(&self, moments: Moments) -> Value {
        let record = &self.record;
        let steps = record
            .steps
            .iter()
            .map(|step| shapes::step(step, self.times_of(step), self.attempts_of(step)));
        let reasons = self.why.reasons.iter();
        json!({
            "id": record.id,
            "flow": record.flow,
            "status": record.status,
            "remaining_steps": record.remaining_steps,
            "started_at": shapes::moment(Some(record.started_at)),
            "ended_at": shapes::moment(record.ended_at),
            "cancel_reason": record.cancel_reason,
            "steps": steps.collect::<Vec<_>>(),
            "waits_for": reasons.map(|it| shapes::reason(it, moments)).collect::<Vec<_>>(),
        })
    }

    /// The run as a tree of its steps.
    pub(crate) fn text(&self, times: &Times) -> String {
        let record = &self.record;
        let mut text = format!(
            "{} {}  {}  started {}, {} {}\n",
            times.paint.bold(&plain(&record.flow)),
            record.id,
            times.paint.status(record.status.word()),
            times.at(record.started_at),
            if record.ended_at.is_some() { "took" } else { "runs for" },
            times.took(record.started_at, record.ended_at),
        );
        if let Some(reason) = &record.cancel_reason {
            let _ = writeln!(text, "cancelled: {}", folded(reason));
        }
        let depths = self.depths();
        for step in &record.steps {
            let indent = "  ".repeat(depths.get(&*step.slug).copied().unwrap_or(0));
            let _ = writeln!(text, "  {indent}{}", self.line(step, times));
        }
        text
    }

    /// How many steps lie before each.
    fn depths(&self) -> HashMap<&str, usize> {
        let mut depths = HashMap::new();
        for step in self.shape.iter().flat_map(|shape| &shape.steps) {
            let before = step.depends_on.iter().filter_map(|dep| depths.get(&**dep).copied());
            depths.insert(&*step.slug, before.max().map_or(0, |depth: usize| depth + 1));
        }
        depths
    }

    /// A sign and a word for a step. One that did not end before its run did will not.
    fn look(&self, step: StepStatus) -> (char, &'static str) {
        let is_open = matches!(step, StepStatus::Created | StepStatus::Started);
        if is_open && self.record.status.has_ended() {
            return ('■', "stopped");
        }
        (mark(step), step.word())
    }

    fn line(&self, step: &StepRecord, times: &Times) -> String {
        let (mark, status) = self.look(step.status);
        let mut line = format!("{mark} {}  {}", plain(&step.slug), times.paint.status(status));
        if let (true, Some(all)) = (step.is_map, step.tasks) {
            let left = step.remaining_tasks.unwrap_or(all);
            let _ = write!(line, "  {}/{all} tasks", all - left.min(all));
        }
        // What went well at once goes without saying.
        if let Some(attempts) = self.attempts_of(step).filter(|attempts| {
            *attempts > 1 || *attempts == 1 && step.status != StepStatus::Completed
        }) {
            let _ = write!(line, "  {attempts} attempt{}", if attempts == 1 { "" } else { "s" });
        }
        if let Some((from, until)) =
            self.times_of(step).and_then(|it| Some((it.started_at?, it.ended_at)))
        {
            let _ = write!(line, "  {}", times.took(from, until));
        }
        if let Some(reason) = step.skip_reason {
            let _ = write!(line, "  ({reason})");
        }
        let work = step.work.as_ref();
        if let Some(error) = step.error.as_ref().or(work.and_then(|work| work.last_error.as_ref()))
        {
            let _ = write!(line, "  {}", folded(error));
        }
        for reason in self.why.reasons.iter().filter(|reason| reason.step() == Some(&*step.slug)) {
            let _ = write!(
                line,
                "\n      {}",
                times.paint.dim(&folded(&reason.sentence(times.moments(self.why.now))))
            );
        }
        line
    }
}

fn mark(status: StepStatus) -> char {
    match status {
        StepStatus::Created => '○',
        StepStatus::Started => '▶',
        StepStatus::Completed => '✔',
        StepStatus::Failed => '✖',
        StepStatus::Skipped => '–',
    }
}

//! What is known of a run, of one of its steps, or of one of its tasks: also what they were given and put out.

use maud::{Markup, html};
use pgflow_machine::log::StreamKey;
use pgflow_machine::{TaskKey, TaskStatus};
use pgflow_runtime::backend::{TaskQuery, TaskRecord, WaitRecord};
use pgflow_runtime::{RunId, StepStatus};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::run::{first_line, href};
use super::{said, waiting, waits};
use crate::PayloadKind;
use crate::actions::Said;
use crate::app::App;
use crate::error::PageError;
use crate::html::status::{Look, badge};
use crate::html::{payload, time};
use crate::request::Asked;
use crate::run_view::{RunView, StepView};

/// Tasks on a page.
const TASKS: u32 = 50;
/// Bytes of what a map has put out that are read: a page shows no more of it.
const SHOWN: u32 = 32 << 10;
/// Outputs of a run that are shown with it; the others are with their steps.
const OUTPUTS: usize = 3;

/// What of a run somebody wants to see.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Chosen {
    #[serde(default)]
    step: String,
    task: Option<u32>,
    /// Only tasks like this.
    #[serde(default)]
    only: String,
    /// Only tasks after this one.
    after: Option<u32>,
    /// Asks what the run waits for.
    why: Option<String>,
    /// What became of an action.
    said: Option<Said>,
}

impl Chosen {
    pub(super) fn notice(&self) -> Option<&'static str> {
        self.said.map(Said::sentence)
    }
}

/// The part of the page that says more about what was chosen.
pub(super) async fn detail(
    asked: &Asked,
    view: &RunView,
    chosen: &Chosen,
) -> Result<Markup, PageError> {
    let Asked { app, base, .. } = asked;
    if chosen.step.is_empty() {
        return of_run(asked, view, chosen.why.is_some()).await;
    }
    let unknown = || PageError::NotFound(format!("the run has no step `{}`", chosen.step));
    let step = view.step(&chosen.step).ok_or_else(unknown)?;
    let reader = Reader { app, base, view, run: view.record.id };
    match chosen.task {
        Some(index) if step.record.is_map => of_task(&reader, &step, index).await,
        _ => of_step(&reader, &step, chosen).await,
    }
}

async fn of_run(asked: &Asked, view: &RunView, is_asked_why: bool) -> Result<Markup, PageError> {
    let Asked { app, base, .. } = asked;
    let reader = Reader { app, base, view, run: view.record.id };
    let waiting = waiting::reasons(app, view, is_asked_why).await?;
    let input = reader.run_input().await?;
    let mut outputs = Vec::new();
    let ended = view.last_steps().filter(|step| step.record.status == StepStatus::Completed);
    for step in ended.take(OUTPUTS) {
        let output = reader.output(&step).await?;
        let title = title(&format!("Output of {}", step.record.slug), &step, output.as_ref());
        outputs.push((title, output));
    }
    Ok(html! {
        h2 { "Run" }
        (waiting)
        @if !view.waits.is_empty() { h3 { "Open waits" } (waits::table(base, &view.waits)) }
        (payload::payload("Input", input.as_ref()))
        @for (title, output) in &outputs { (payload::payload(title, output.as_ref())) }
        p.none { "Choose a step to see more of it." }
    })
}

async fn of_step(
    reader: &Reader<'_>,
    step: &StepView<'_>,
    chosen: &Chosen,
) -> Result<Markup, PageError> {
    let slug = &step.record.slug;
    let tasks = reader.tasks(step, chosen).await?;
    let (input, output) = (reader.step_input(slug).await?, reader.output(step).await?);
    let error = step.error().map(|error| reader.error(slug, error));
    let said = reader.said(slug, 0).await?;
    Ok(html! {
        (heading(&html! { (slug) }, "?", step.look))
        (facts(step, &tasks))
        @if let Some(error) = error { h3 { "Error" } (payload::error(&error)) }
        (reader.waits(slug, None))
        @if step.record.is_map { (task_table(reader, step, chosen, &tasks)) } @else { (said) }
        (payload::payload("Input", input.as_ref()))
        (payload::payload(&title("Output", step, output.as_ref()), output.as_ref()))
    })
}

/// What is shown of a wide map is the beginning of it.
fn title(title: &str, step: &StepView<'_>, output: Option<&Value>) -> String {
    let (_, all) = step.tasks();
    let shown = output.filter(|_| step.record.is_map).and_then(Value::as_array).map(Vec::len);
    match (shown, all) {
        (Some(shown), Some(all)) if shown < all as usize => {
            format!("{title}, the first {shown} of {all}")
        }
        _ => title.to_owned(),
    }
}

async fn of_task(
    reader: &Reader<'_>,
    step: &StepView<'_>,
    index: u32,
) -> Result<Markup, PageError> {
    let slug = &step.record.slug;
    let query = TaskQuery { after: index.checked_sub(1), max: 1, ..TaskQuery::default() };
    let found = reader.app.db.backend().tasks(reader.run, slug, &query).await?;
    let unknown = || PageError::NotFound(format!("step `{slug}` has no task {index}"));
    let task = found.into_iter().find(|task| task.index == index).ok_or_else(unknown)?;
    let (item, output) = (reader.item(slug, index).await?, reader.task_output(step, index).await?);
    let error = task.error.as_deref().map(|error| reader.error(slug, error));
    let said = reader.said(slug, index).await?;
    Ok(html! {
        (heading(&html! { (slug) " [" (index) "]" }, &href(slug), look_of(task.status)))
        dl.facts { (task_facts(&task)) }
        @if let Some(error) = error { h3 { "Error of the last attempt" } (payload::error(&error)) }
        (reader.waits(slug, Some(index)))
        (said)
        (payload::payload("Item", item.as_ref()))
        (payload::payload("Output", output.as_ref()))
    })
}

fn heading(title: &Markup, back: &str, look: Look) -> Markup {
    html! {
        div.heading {
            h2 { (title) " " (badge(look)) }
            a.close href=(back) data-detail { "Back" }
        }
    }
}

fn facts(step: &StepView<'_>, tasks: &[TaskRecord]) -> Markup {
    let (done, all) = step.tasks();
    let work = step.record.work.as_ref();
    html! {
        dl.facts {
            @if let Some(reason) = step.record.skip_reason { div { dt { "Skipped" } dd { (reason.word().replace('_', " ")) } } }
            @if step.record.remaining_deps > 0 { div { dt { "Waits for" } dd { (step.record.remaining_deps) " steps" } } }
            @if let Some(at) = step.started_at() { div { dt { "Started" } dd { (time::moment(at)) } } }
            @if let Some(took) = step.took() { div { dt { "Took" } dd { (time::duration(took)) } } }
            @if step.record.is_map {
                @if let Some(all) = all { div { dt { "Tasks done" } dd { (done) " of " (all) } } }
                @if let Some(work) = work {
                    div { dt { "Running" } dd { (work.running) } }
                    div { dt { "Attempts" } dd { (work.attempts) } }
                }
            } @else {
                @for task in tasks { (task_facts(task)) }
            }
        }
    }
}

fn task_facts(task: &TaskRecord) -> Markup {
    html! {
        div { dt { "Attempts" } dd { (task.attempts) } }
        @if task.losses > 0 { div { dt { "Lost by workers" } dd { (task.losses) } } }
        @if let Some(worker) = task.worker { div { dt { "Worker" } dd.id { (worker.0) } } }
        @if task.status == TaskStatus::Queued {
            @if let Some(at) = task.ready_at { div { dt { "May run from" } dd { (time::moment(at)) } } }
        }
        @if let Some(at) = task.started_at { div { dt { "Last attempt" } dd { (time::moment(at)) } } }
        @if let Some(at) = task.ended_at { div { dt { "Ended" } dd { (time::moment(at)) } } }
    }
}

fn task_table(
    reader: &Reader<'_>,
    step: &StepView<'_>,
    chosen: &Chosen,
    tasks: &[TaskRecord],
) -> Markup {
    let slug = &step.record.slug;
    let of = |only: &str| format!("{}&only={only}", href(slug));
    let last = tasks.last().filter(|_| tasks.len() >= TASKS as usize);
    let next = last.map(|task| format!("{}&after={}", of(&chosen.only), task.index));
    html! {
        h3 { "Tasks" }
        nav.chips aria-label="Which tasks" {
            a href=(href(slug)) data-detail aria-current=[chosen.only.is_empty().then_some("true")] { "all" }
            @for status in TaskStatus::ALL {
                a href=(of(status.word())) data-detail aria-current=[(status.word() == chosen.only).then_some("true")] { (look_of(*status).word()) }
            }
        }
        @if tasks.is_empty() { p.none { "There are none." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Tasks" {
                table {
                    thead { tr { th.number scope="col" { "Task" } th scope="col" { "Status" } th.number scope="col" { "Attempts" } th scope="col" { "Last attempt" } th scope="col" { "Its error" } } }
                    tbody {
                        @for task in tasks {
                            tr {
                                td.number { a href={ (href(slug)) "&task=" (task.index) } data-detail { (task.index) } }
                                td { (badge(look_of(task.status))) }
                                td.number { (task.attempts) }
                                td { @if let Some(at) = task.started_at { (time::moment(at)) } }
                                td.cut { @if let Some(error) = &task.error { (first_line(&reader.error(slug, error))) } }
                            }
                        }
                    }
                }
            }
        }
        @if let Some(next) = next { nav.paging { a href=(next) rel="next" data-detail { "More" } } }
    }
}

fn look_of(status: TaskStatus) -> Look {
    match status {
        TaskStatus::Queued => Look::Queued,
        TaskStatus::Started => Look::Running,
        TaskStatus::Waiting => Look::Waiting,
        TaskStatus::Completed => Look::Completed,
        TaskStatus::Failed => Look::Failed,
    }
}

/// Reads payloads, a bounded part of each, and lets nobody see more of them than they may.
struct Reader<'a> {
    app: &'a App,
    base: &'a str,
    view: &'a RunView,
    run: RunId,
}

impl Reader<'_> {
    fn shown(&self, step: Option<&str>, kind: PayloadKind, value: Value) -> Value {
        self.app.options.redacted(&self.view.record.flow, step, kind, value)
    }

    fn error(&self, step: &str, error: &str) -> String {
        self.app.options.redacted_error(&self.view.record.flow, Some(step), error)
    }

    /// What a step, or one of its tasks, waits for from outside.
    fn waits(&self, slug: &str, index: Option<u32>) -> Markup {
        let is_of =
            |task: &TaskKey| task.step == slug && index.is_none_or(|index| task.index == index);
        let waits = self.view.waits.iter().filter(|wait| is_of(&wait.task));
        let waits: Vec<WaitRecord> = waits.cloned().collect();
        html! { @if !waits.is_empty() { h3 { "Waits for" } (waits::table(self.base, &waits)) } }
    }

    /// The last of what a task says while it runs.
    async fn said(&self, slug: &str, index: u32) -> Result<Markup, PageError> {
        let task = TaskKey { run: self.run, step: slug.to_owned(), index };
        let shown = |value| self.shown(Some(slug), PayloadKind::Chunk, value);
        said::said(self.app, &StreamKey::Task(task), shown).await
    }

    async fn run_input(&self) -> Result<Option<Value>, PageError> {
        let input = self.app.db.backend().input(self.run).await?;
        Ok(input.map(|input| self.shown(None, PayloadKind::Input, input)))
    }

    /// What the steps before it have put out; the run's input for a step that has none before it.
    async fn step_input(&self, slug: &str) -> Result<Option<Value>, PageError> {
        let before = self.view.depends_on(slug);
        if before.is_empty() {
            return self.run_input().await;
        }
        let mut input = Map::new();
        for slug in before {
            let Some(step) = self.view.step(slug) else { continue };
            input.extend(self.output(&step).await?.map(|output| (slug.clone(), output)));
        }
        Ok((!input.is_empty()).then_some(Value::Object(input)))
    }

    /// What a step has put out: of a map, what its first tasks have.
    async fn output(&self, step: &StepView<'_>) -> Result<Option<Value>, PageError> {
        if step.record.status != StepStatus::Completed {
            return Ok(None);
        }
        let backend = self.app.db.backend();
        let mut outputs = backend.outputs_within(self.run, &step.record.slug, 0, SHOWN).await?;
        let whole = if step.record.is_map { Some(Value::Array(outputs)) } else { outputs.pop() };
        Ok(whole.map(|whole| self.shown(Some(&step.record.slug), PayloadKind::Output, whole)))
    }

    /// What one task of a map has put out, once all have.
    async fn task_output(
        &self,
        step: &StepView<'_>,
        index: u32,
    ) -> Result<Option<Value>, PageError> {
        if step.record.status != StepStatus::Completed {
            return Ok(None);
        }
        let slug = &step.record.slug;
        let outputs = self.app.db.backend().outputs_within(self.run, slug, index, 1).await?;
        let output = outputs.into_iter().next();
        Ok(output.map(|output| self.shown(Some(slug), PayloadKind::Output, output)))
    }

    /// The element that a task of a map was given.
    async fn item(&self, slug: &str, index: u32) -> Result<Option<Value>, PageError> {
        let backend = self.app.db.backend();
        let element = |array: Option<Value>| match array {
            Some(Value::Array(elements)) => elements.into_iter().nth(index as usize),
            _ => None,
        };
        let before = self.view.depends_on(slug).first().and_then(|slug| self.view.step(slug));
        let item = match before {
            None => element(backend.input(self.run).await?),
            Some(step) if step.record.is_map => {
                let of_one = backend.outputs_within(self.run, &step.record.slug, index, 1).await?;
                of_one.into_iter().next()
            }
            Some(step) => {
                element(backend.outputs_within(self.run, &step.record.slug, 0, 1).await?.pop())
            }
        };
        Ok(item.map(|item| self.shown(Some(slug), PayloadKind::Input, item)))
    }

    async fn tasks(
        &self,
        step: &StepView<'_>,
        chosen: &Chosen,
    ) -> Result<Vec<TaskRecord>, PageError> {
        let unknown = || PageError::Wrong(format!("there is no status `{}`", chosen.only));
        let statuses = match chosen.only.as_str() {
            "" => Vec::new(),
            word => vec![TaskStatus::from_word(word).ok_or_else(unknown)?],
        };
        // A step that is completed has no other tasks, and need not be searched for them.
        let is_completed = step.record.status == StepStatus::Completed;
        if is_completed && statuses.iter().any(|status| *status != TaskStatus::Completed) {
            return Ok(Vec::new());
        }
        let query = TaskQuery { statuses, after: chosen.after, max: TASKS };
        Ok(self.app.db.backend().tasks(self.run, &step.record.slug, &query).await?)
    }
}

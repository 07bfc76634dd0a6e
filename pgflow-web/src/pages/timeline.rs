//! The steps of a run over time.

use maud::{Markup, html};
use pgflow_runtime::Timestamp;

use super::run::href;
use crate::html::status::badge;
use crate::html::time;
use crate::run_view::{RunView, StepView};

/// The length of a bar over all of the time.
const WIDTH: f64 = 1000.0;
/// What can still be seen.
const SHORTEST: f64 = 6.0;

/// Steps with their states, and a bar each.
pub(super) fn table(view: &RunView, steps: &[StepView<'_>]) -> Markup {
    let span = Span::of(view, steps);
    html! {
        h2 { "Timeline" }
        div.scroll tabindex="0" role="region" aria-label="Timeline" {
            table.timeline {
                thead { tr { th scope="col" { "Step" } th scope="col" { "Status" } th.number scope="col" { "Tasks" } th scope="col" { "Started" } th.number scope="col" { "Took" } th.bars scope="col" { "When" } } }
                tbody { @for step in steps { (row(step, &span)) } }
            }
        }
    }
}

fn row(step: &StepView<'_>, span: &Span) -> Markup {
    let (done, all) = step.tasks();
    let slug = &step.record.slug;
    html! {
        tr {
            th scope="row" { a href=(href(slug)) data-step=(slug) { (slug) } }
            td { (badge(step.look)) }
            td.number { @if let Some(all) = all { (done) " / " (all) } }
            td { @if let Some(at) = step.started_at() { time { (time::precise(at)) } } }
            td.number { @if let Some(took) = step.took() { (time::duration(took)) } }
            td.bars {
                @if let Some((from, width)) = span.bar(step) {
                    svg.bar viewBox={ "0 0 " (WIDTH) " 10" } preserveAspectRatio="none" aria-hidden="true" {
                        rect class={ "is-" (step.look.word()) } x=(from) y="1" width=(width) height="8" rx="2" {}
                    }
                }
            }
        }
    }
}

/// The time that something is known about. It does not end now, so that a picture stays the same until something happens.
struct Span {
    from: Timestamp,
    to: Timestamp,
}

impl Span {
    fn of(view: &RunView, steps: &[StepView<'_>]) -> Self {
        let from = view.record.started_at;
        let moments = steps.iter().flat_map(|step| [step.started_at(), step.ended_at()]);
        let to = moments.flatten().chain(view.record.ended_at).max().unwrap_or(from);
        Self { from, to: to.max(from) }
    }

    /// Where the bar of a step begins, and its length: to the end of the picture if the step goes on.
    fn bar(&self, step: &StepView<'_>) -> Option<(f64, f64)> {
        let all = self.from.saturating_until(self.to).as_secs_f64();
        let place = |at: Timestamp| match all {
            0.0 => 0.0,
            all => self.from.saturating_until(at).as_secs_f64() / all * WIDTH,
        };
        let from = place(step.started_at()?).min(WIDTH - SHORTEST);
        let to = step.ended_at().map_or(WIDTH, place);
        Some((from.round(), (to - from).max(SHORTEST).round()))
    }
}

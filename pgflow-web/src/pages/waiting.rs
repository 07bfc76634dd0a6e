//! What a run that goes on waits for, in sentences.

use maud::{Markup, html};
use pgflow_runtime::client::{Reason, Why};

use crate::app::App;
use crate::error::PageError;
use crate::html::time;
use crate::run_view::RunView;

/// Only when somebody asks: it takes some looking, and is true for that moment.
pub(super) async fn reasons(
    app: &App,
    view: &RunView,
    is_asked: bool,
) -> Result<Markup, PageError> {
    if view.record.status.has_ended() {
        return Ok(html! {});
    }
    if !is_asked {
        return Ok(html! { p { a href="?why=1" data-detail { "What does it wait for?" } } });
    }
    // Steps that wait for other steps say nothing that the graph does not.
    let Why { now, reasons, flow, .. } = app.db.why(view.record.id).await?;
    let reasons = reasons.into_iter().filter(|it| !matches!(it, Reason::Dependencies { .. }));
    let sentence = |mut reason| {
        redact(app, &flow, &mut reason);
        reason.sentence(now)
    };
    let sentences: Vec<String> = reasons.map(sentence).collect();
    Ok(html! {
        h3 { "What it waited for " (time::moment(now)) }
        ul.waits { @for sentence in &sentences { li { (sentence) } } }
        p { a href="?why=1" data-detail { "Ask again" } }
    })
}

/// A reason may tell what an attempt failed with.
fn redact(app: &App, flow: &str, reason: &mut Reason) {
    let step = reason.step().map(str::to_owned);
    let shown = |error: &str| app.options.redacted_error(flow, step.as_deref(), error);
    match reason {
        Reason::Backoff { error, .. } => *error = shown(error),
        Reason::HeldBack { why, .. } | Reason::Ended { why: Some(why), .. } => *why = shown(why),
        Reason::Child { flow, reason, .. } => redact(app, flow, reason),
        _ => {}
    }
}

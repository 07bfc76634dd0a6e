//! Schedules: what starts runs by the clock, and when.

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use maud::{Markup, html};
use pgflow_runtime::schedules::{Schedule, ScheduleStatus};

use super::{Page, run};
use crate::app::App;
use crate::error::PageError;
use crate::html::{shell, time};
use crate::named_actions::{Done, SCHEDULES, button};
use crate::query::encoded;
use crate::request::{Asked, Query};

pub(super) const PAGE: Page = Page { path: "/schedules", title: "Schedules", routes };

fn routes() -> Router<App> {
    Router::new().route(PAGE.path, get(show))
}

async fn show(asked: Asked, Query(done): Query<Done>) -> Result<Html<String>, PageError> {
    let body = if asked.app.db.backend().schedules().is_err() {
        html! { h1 { "Schedules" } p.none { "This database keeps no schedules." } }
    } else {
        let schedules = asked.app.db.schedules().await?;
        html! {
            h1 { "Schedules" }
            (done.notice())
            @if schedules.is_empty() { p.none { "There are none." } }
            @else { (table(&asked, &schedules)) }
        }
    };
    Ok(shell::page(&asked, "Schedules", PAGE.path, &body))
}

fn table(asked: &Asked, schedules: &[Schedule]) -> Markup {
    let base = &asked.base;
    let flow = |flow: &str| format!("{base}/flows/{}", encoded(flow));
    html! {
        div.scroll tabindex="0" role="region" aria-label="Schedules" {
            table {
                thead { tr { @for head in ["Schedule", "Flow", "When", "Time zone", "State", "Next", "Last run", "Error", ""] { th scope="col" { (head) } } } }
                tbody {
                    @for schedule in schedules {
                        tr {
                            th scope="row" { (schedule.name) }
                            td { a href=(flow(&schedule.spec.flow)) { (schedule.spec.flow) } }
                            td.id { (schedule.spec.cron) }
                            td { (schedule.spec.zone) }
                            td { (state(schedule)) }
                            td { @if let Some(next) = schedule.next_at.filter(|_| schedule.paused_at.is_none()) { (time::moment(next)) } }
                            td {
                                @if let Some(id) = schedule.last_run { a.id href={ (base) "/runs/" (id) } { (time_of(schedule)) } }
                            }
                            td { @if let Some(error) = error(asked, schedule) { (run::first_line(&error)) } }
                            td { (forms(asked, schedule)) }
                        }
                    }
                }
            }
        }
    }
}

/// Why it starts nothing, as people may see it.
fn error(asked: &Asked, schedule: &Schedule) -> Option<String> {
    let error = schedule.error.as_deref()?;
    Some(asked.app.options.redacted_error(&schedule.spec.flow, None, error))
}

fn time_of(schedule: &Schedule) -> Markup {
    html! { @if let Some(at) = schedule.last_at { (time::moment(at)) } @else { "run" } }
}

fn state(schedule: &Schedule) -> Markup {
    let (class, word) = match schedule.status {
        _ if schedule.paused_at.is_some() => ("is-cancelled", "paused"),
        ScheduleStatus::Pending => ("is-waiting", "pending"),
        ScheduleStatus::Active => ("is-completed", "active"),
        ScheduleStatus::Over => ("is-skipped", "over"),
        ScheduleStatus::Broken => ("is-failed", "broken"),
    };
    html! { span class={ "badge " (class) } { (word) } }
}

/// What can be done about one, for those who may.
fn forms(asked: &Asked, schedule: &Schedule) -> Markup {
    let (verb, label) =
        if schedule.paused_at.is_some() { ("resume", "Resume") } else { ("pause", "Pause") };
    html! {
        div.actions {
            (button(asked, SCHEDULES, verb, &schedule.name, label))
            (button(asked, SCHEDULES, "fire", &schedule.name, "Start now"))
        }
    }
}

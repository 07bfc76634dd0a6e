//! Jobs: what waits for which need, filtered, found, page by page.

use axum::Router;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use maud::{Markup, html};
use pgflow_runtime::Timestamp;
use pgflow_runtime::backend::{JobDepths, JobPlace, JobSearch, JobSummary, JobsOf, NeedDepth};
use pgflow_runtime::job::{JobId, JobOutcome, JobState};
use serde::Deserialize;

use super::{Page, job, run};
use crate::app::App;
use crate::error::PageError;
use crate::html::status::badge_of;
use crate::html::{field, shell, time};
use crate::query::{Exact, encoded};
use crate::request::{Asked, Query};

pub(super) const PAGE: Page = Page { path: "/jobs", title: "Jobs", routes };

/// Jobs on a page.
const MAX: u32 = 50;
/// Live jobs that are counted: a page must not take longer when there are millions.
pub(super) const COUNTED: u64 = 10_000;

/// What a list can be of, besides all live ones.
const STATES: &[JobState] = &[
    JobState::Ready,
    JobState::Leased,
    JobState::Sleeping,
    JobState::Waiting,
    JobState::Parked,
    JobState::Concern,
];

fn routes() -> Router<App> {
    Router::new().route(PAGE.path, get(list)).merge(job::routes())
}

/// What somebody asked for; an empty field is one that was left out.
#[derive(Debug, Default, Deserialize)]
struct Filter {
    #[serde(default)]
    need: String,
    #[serde(default)]
    need_is: Exact,
    #[serde(default)]
    key: String,
    #[serde(default)]
    key_is: Exact,
    #[serde(default)]
    status: String,
    /// A name, or the beginning of one.
    #[serde(default)]
    q: String,
    #[serde(default)]
    q_is: Exact,
    /// The last job of the page before: when it ended, and its place.
    #[serde(default)]
    after: String,
}

async fn list(asked: Asked, Query(mut filter): Query<Filter>) -> Result<Response, PageError> {
    filter.restore();
    if !asked.app.db.has_jobs() {
        let body = html! { h1 { "Jobs" } p.none { "This database keeps no jobs yet." } };
        return Ok(shell::page(&asked, "Jobs", PAGE.path, &body).into_response());
    }
    if filter.q.trim().is_empty() {
        return Ok(show(&asked, &filter, None).await?.into_response());
    }
    find(&asked, &filter).await
}

async fn show(
    asked: &Asked,
    filter: &Filter,
    notice: Option<&str>,
) -> Result<Html<String>, PageError> {
    let page = asked.app.db.find_jobs(&filter.search()?).await?;
    let JobDepths { needs, is_part, .. } = asked.app.db.job_depths_of(COUNTED).await?;
    let next = page.next.and_then(|next| next.after).map(position);
    let body = html! {
        h1 { "Jobs" }
        (need_table(&asked.base, &needs, is_part, None))
        (form(asked, filter, &needs))
        @if let Some(notice) = notice { p.notice role="status" { (notice) } }
        (table(&asked.app, &asked.base, &page.jobs))
        nav.paging aria-label="Paging" {
            @if !filter.after.is_empty() { a href=(filter.href(&asked.base, None)) { "Newest" } }
            @if let Some(next) = next { a rel="next" href=(filter.href(&asked.base, Some(&next))) { "Older" } }
        }
    };
    Ok(shell::page(asked, "Jobs", PAGE.path, &body))
}

impl Filter {
    /// Takes back what the fields were shown for.
    fn restore(&mut self) {
        field::meant(&mut self.need, std::mem::take(&mut self.need_is));
        field::meant(&mut self.key, std::mem::take(&mut self.key_is));
        field::meant(&mut self.q, std::mem::take(&mut self.q_is));
    }

    fn search(&self) -> Result<JobSearch, PageError> {
        let (of, state) = which(&self.status)
            .ok_or_else(|| PageError::Wrong(format!("there is no status `{}`", self.status)))?;
        let after = match self.after.as_str() {
            "" => None,
            text => Some(place(text)?),
        };
        let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let (need, key) = (given(&self.need), given(&self.key));
        Ok(JobSearch { of, state, need, key, after, max: MAX })
    }

    /// The same list from another place on.
    fn href(&self, base: &str, after: Option<&str>) -> String {
        let [need, key, status] = [&self.need, &self.key, &self.status].map(|text| encoded(text));
        let after = after.map(|after| format!("&after={}", encoded(after))).unwrap_or_default();
        format!("{base}{}?need={need}&key={key}&status={status}{after}", PAGE.path)
    }
}

fn which(status: &str) -> Option<(JobsOf, Option<JobState>)> {
    match status {
        "" => Some((JobsOf::Live, None)),
        "ended" => Some((JobsOf::Ended, None)),
        word => match STATES.iter().find(|state| state.word() == word) {
            Some(state) => Some((JobsOf::Live, Some(*state))),
            None => Some((JobsOf::EndedAs(JobOutcome::from_word(word)?), None)),
        },
    }
}

/// A place in a list, as a part of an address.
pub(super) fn position(place: JobPlace) -> String {
    let at = place.ended_at.map(|at| at.micros().to_string()).unwrap_or_default();
    format!("{at}_{}", place.seq)
}

/// The place that an address names.
pub(super) fn place(text: &str) -> Result<JobPlace, PageError> {
    let place = |at: &str, seq: &str| {
        let ended_at = match at {
            "" => None,
            micros => Some(Timestamp::from_micros(micros.parse().ok()?)),
        };
        Some(JobPlace { ended_at, seq: seq.parse().ok()? })
    };
    let read = text.split_once('_').and_then(|(at, seq)| place(at, seq));
    read.ok_or_else(|| PageError::Wrong(format!("`{text}` is not the end of a page of jobs")))
}

/// Goes to the job of this name; lists those whose names begin like this.
async fn find(asked: &Asked, filter: &Filter) -> Result<Response, PageError> {
    let text = filter.q.trim();
    let found = asked.app.db.jobs_beginning(text, MAX).await?;
    let whole = found.iter().find(|job| job.id.as_str() == text);
    if let Some(job) = whole.or(found.first().filter(|_| found.len() == 1)) {
        return Ok(Redirect::to(&job::href(&asked.base, &job.id)).into_response());
    }
    if found.is_empty() {
        let notice = "No job has a name that begins like this.";
        return Ok(show(asked, filter, Some(notice)).await?.into_response());
    }
    let body = html! {
        h1 { "Jobs" }
        p { (found.len()) " jobs have names that begin like this." }
        (table(&asked.app, &asked.base, &found))
    };
    Ok(shell::page(asked, "Jobs", PAGE.path, &body).into_response())
}

/// The page of a job that is called exactly this, if there is one.
pub(super) async fn page_of(asked: &Asked, text: &str) -> Result<Option<String>, PageError> {
    let Ok(id) = text.parse::<JobId>() else { return Ok(None) };
    if !asked.app.db.has_jobs() {
        return Ok(None);
    }
    let found = asked.app.db.jobs_beginning(text, 1).await?;
    let is_it = found.first().is_some_and(|job| job.id == id);
    Ok(is_it.then(|| job::href(&asked.base, &id)))
}

fn form(asked: &Asked, filter: &Filter, needs: &[NeedDepth]) -> Markup {
    let states = STATES.iter().map(|state| state.word());
    let ended = JobOutcome::ALL.iter().map(|outcome| outcome.word());
    // Others could not be chosen as they are; the table leads to them.
    let shown = needs.iter().filter(|need| field::is_shown_as_it_is(&need.need));
    html! {
        form.filter action={ (asked.base) (PAGE.path) } {
            label { "Need "
                (field::text("need", &filter.need, Some("needs")))
                datalist #needs { @for need in shown { option value=(need.need) {} } }
            }
            label { "Status "
                select name="status" {
                    option value="" { "live" }
                    @for word in states.chain(["ended"]).chain(ended) {
                        option value=(word) selected[word == filter.status] { (word) }
                    }
                }
            }
            label { "Key " (field::text("key", &filter.key, None)) }
            label { "Name " (field::text("q", &filter.q, None)) }
            button { "Show" }
        }
    }
}

/// Jobs in a table.
fn table(app: &App, base: &str, jobs: &[JobSummary]) -> Markup {
    html! {
        @if jobs.is_empty() { p.none { "There are none." } }
        @else {
            div.scroll tabindex="0" role="region" aria-label="Jobs" {
                table {
                    thead { tr { th scope="col" { "Job" } th scope="col" { "Need" } th scope="col" { "Status" } th scope="col" { "Key" } th.number scope="col" { "Attempts" } th scope="col" { "Submitted" } th scope="col" { "Ended" } th scope="col" { "Error" } } }
                    tbody {
                        @for job in jobs {
                            tr {
                                td { a.id href=(job::href(base, &job.id)) { (job.id) } }
                                td { (job.row.need) }
                                td { (badge_of(job.standing)) }
                                td { (job.row.key.as_deref().unwrap_or("")) }
                                td.number { (job.row.attempts) }
                                td { (time::moment(job.row.created_at)) }
                                td { @if let Some(at) = job.ended_at { (time::moment(at)) } }
                                td { @if let Some(error) = &job.error { (run::first_line(&app.options.redacted_job_error(&job.row.need, error))) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What can be done about a need.
pub(super) type Steering<'a> = Option<&'a dyn Fn(&str) -> Markup>;

/// What waits, by need.
pub(super) fn need_table(
    base: &str,
    needs: &[NeedDepth],
    is_part: bool,
    steering: Steering<'_>,
) -> Markup {
    let href = |need: &str, status: &str| {
        format!("{base}{}?need={}&status={status}", PAGE.path, encoded(need))
    };
    html! {
        @if needs.is_empty() { p.none { "No job is live." } } @else {
            @if is_part { p { "There are more live jobs; " (COUNTED) " of them were counted." } }
            div.scroll tabindex="0" role="region" aria-label="Needs" {
                table {
                    thead { tr { th scope="col" { "Need" } @for head in ["Ready", "Running", "Sleeping", "Waiting", "Parked", "Concern", "First ready"] { th.number scope="col" { (head) } } @if steering.is_some() { th scope="col" {} } } }
                    tbody {
                        @for need in needs {
                            tr {
                                th scope="row" { a href=(href(&need.need, "")) { (need.need) } }
                                @for count in [need.ready, need.running, need.sleeping, need.waiting, need.parked] { td.number { (count) } }
                                td.number { @if need.concern > 0 { a.is-failed href=(href(&need.need, "concern")) { (need.concern) } } @else { "0" } }
                                td.number { @if let Some(first) = need.first_ready { (time::whole_seconds(first)) } }
                                @if let Some(steering) = steering { td { (steering(&need.need)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

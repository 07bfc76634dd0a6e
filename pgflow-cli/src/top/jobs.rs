//! How jobs are shown.

use pgflow_runtime::backend::JobStanding;
use pgflow_runtime::job::{JobOutcome, JobStatus};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Row};

use super::draw::{draw_open, draw_table, times};
use super::state::{List, Opened, State};
use crate::database::{flat, spoken};

pub(super) fn draw_jobs(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let times = times(state);
    let rows = state.seen.jobs.iter().map(|job| {
        Row::new([
            Cell::from(flat(job.id.as_str())),
            Cell::from(flat(&job.row.need)),
            Cell::from(standing(job.standing)),
            Cell::from(times.at(job.ended_at.unwrap_or(job.row.created_at))),
            Cell::from(flat(job.error.as_deref().unwrap_or_default())),
        ])
    });
    let titles = ["job", "need", "status", "since", "error"];
    draw_table(frame, area, state, (List::Jobs, "jobs"), &titles, rows.collect());
}

/// What waits for needs, below what waits for flows.
pub(super) fn need_rows(state: &State) -> impl Iterator<Item = Row<'_>> {
    state.seen.needs.iter().map(|need| {
        Row::new([
            flat(&need.need),
            need.ready.to_string(),
            (need.sleeping + need.waiting + need.parked).to_string(),
            need.running.to_string(),
            need.first_ready.map(spoken).unwrap_or_default(),
        ])
    })
}

pub(super) fn draw_job(frame: &mut Frame<'_>, area: Rect, state: &mut State) {
    let Some(Opened::Job { record, why }) = &state.opened else { return };
    let (job, times) = (&record.summary, times(state));
    let counts = format!(
        "{} attempts, {} failed, {} lost",
        job.row.attempts, job.row.failures, job.row.lapses
    );
    let mut lines = vec![
        Line::from(vec![
            Span::raw(format!("{}  ", flat(job.id.as_str()))),
            standing(job.standing),
            Span::raw(format!("  submitted {}", times.at(job.row.created_at))),
        ]),
        Line::raw(counts),
    ];
    lines.extend(job.row.key.iter().map(|key| Line::raw(format!("key {}", flat(key)))));
    lines.extend(job.error.iter().map(|error| Line::raw(format!("error {}", flat(error)))));
    lines.push(Line::raw(""));
    lines
        .extend(why.reasons.iter().map(|it| Line::raw(flat(&it.sentence(times.moments(why.now))))));
    let title = flat(&job.row.need);
    draw_open(frame, area, (&mut state.scroll, &title), lines);
}

fn standing(standing: JobStanding) -> Span<'static> {
    let colour = match standing {
        JobStanding::Live(JobStatus::Active) => Color::Blue,
        JobStanding::Live(JobStatus::CrashConcern)
        | JobStanding::Ended(JobOutcome::Failed | JobOutcome::Crashed) => Color::Red,
        JobStanding::Ended(JobOutcome::Done) => Color::Green,
        JobStanding::Live(JobStatus::Cancelled | JobStatus::Expired)
        | JobStanding::Ended(JobOutcome::Cancelled | JobOutcome::Expired) => Color::Yellow,
        JobStanding::Live(_) => Color::DarkGray,
    };
    Span::styled(standing.to_string(), Style::new().fg(colour))
}

//! How it is shown.

use pgflow_runtime::backend::RunRecord;
use pgflow_runtime::client::Why;
use pgflow_runtime::{RunStatus, StepStatus};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Paragraph, Row, Table, TableState, Wrap};

use super::jobs::{draw_job, draw_jobs, need_rows};
use super::state::{List, Opened, State};
use crate::database::{Times, paint, plain, spoken};

pub(super) fn draw(frame: &mut Frame<'_>, state: &State) {
    let [title, middle, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(3), Constraint::Length(1)])
            .areas(frame.area());
    let alive = state.workers.iter().filter(|worker| worker.is_alive(state.now)).count();
    let head = format!(" pgflow  {}  {alive} workers", state.database);
    frame.render_widget(Line::styled(head, Style::new().add_modifier(Modifier::REVERSED)), title);
    match &state.opened {
        Some(Opened::Run { record, why }) => draw_run(frame, middle, state, (record, why)),
        Some(Opened::Job { record, why }) => draw_job(frame, middle, state, (record, why)),
        None => draw_lists(frame, middle, state),
    }
    let help = " tab lists  ↑↓ choose  enter open  esc back  r retry  c cancel  q quit";
    let text = if state.message.is_empty() {
        help.to_owned()
    } else {
        format!(" {}", plain(&state.message))
    };
    frame.render_widget(Line::raw(text), foot);
}

pub(super) fn times(state: &State) -> Times {
    Times::new(state.now, false, paint())
}

fn draw_lists(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let [queues, runs, jobs, workers] = Layout::vertical([
        Constraint::Percentage(25),
        Constraint::Min(5),
        // Where there are none, runs have the room.
        if state.jobs.is_empty() { Constraint::Length(3) } else { Constraint::Percentage(30) },
        Constraint::Percentage(20),
    ])
    .areas(area);
    draw_queues(frame, queues, state);
    draw_runs(frame, runs, state);
    draw_jobs(frame, jobs, state);
    draw_workers(frame, workers, state);
}

pub(super) fn draw_table(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &State,
    (list, title): (List, &str),
    titles: &[&'static str],
    rows: Vec<Row<'_>>,
) {
    let is_front = state.list == list;
    let style = if is_front { Style::new().fg(Color::Cyan) } else { Style::new() };
    let widths = titles.iter().enumerate().map(|(column, _)| match column {
        0 => Constraint::Fill(2),
        _ => Constraint::Fill(1),
    });
    let table = Table::new(rows, widths)
        .header(Row::new(titles.iter().copied()).style(Style::new().add_modifier(Modifier::DIM)))
        .block(Block::bordered().title(format!(" {title} ")).border_style(style))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut chosen = TableState::new().with_selected(is_front.then_some(state.chosen));
    frame.render_stateful_widget(table, area, &mut chosen);
}

fn draw_queues(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let rows = state.queues.iter().map(|queue| {
        Row::new([
            plain(&queue.slug),
            queue.ready.to_string(),
            queue.delayed.to_string(),
            queue.running.to_string(),
            queue.oldest_ready.map(spoken).unwrap_or_default(),
        ])
    });
    let titles = ["queue", "ready", "delayed", "running", "oldest ready"];
    let rows = rows.chain(need_rows(state)).collect();
    draw_table(frame, area, state, (List::Queues, "queues"), &titles, rows);
}

fn draw_runs(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let times = times(state);
    let rows = state.runs.iter().map(|run| {
        let style = Style::new().fg(run_colour(run.status));
        Row::new([
            Cell::from(run.id.to_string()),
            Cell::from(plain(&run.flow)),
            Cell::from(Span::styled(run.status.word(), style)),
            Cell::from(times.at(run.started_at)),
            Cell::from(times.took(run.started_at, run.ended_at)),
        ])
    });
    let titles = ["run", "flow", "status", "started", "took"];
    draw_table(frame, area, state, (List::Runs, "runs"), &titles, rows.collect());
}

fn draw_workers(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let times = times(state);
    let rows = state.workers.iter().map(|worker| {
        let slots = worker.slots.map(|slots| slots.to_string()).unwrap_or_default();
        Row::new([
            worker.id.0.to_string(),
            plain(worker.host.as_deref().unwrap_or_default()),
            format!("{}/{slots}", worker.running),
            times.at(worker.seen_at),
            plain(&worker.serves()),
        ])
    });
    let titles = ["worker", "host", "tasks", "seen", "serves"];
    draw_table(frame, area, state, (List::Workers, "workers"), &titles, rows.collect());
}

fn draw_run(frame: &mut Frame<'_>, area: Rect, state: &State, (record, why): (&RunRecord, &Why)) {
    let times = times(state);
    let mut lines = vec![Line::from(vec![
        Span::raw(format!("{}  ", why.run)),
        Span::styled(record.status.word(), Style::new().fg(run_colour(record.status))),
        Span::raw(format!("  started {}", times.at(record.started_at))),
    ])];
    for step in &record.steps {
        let tasks = match (step.is_map, step.tasks) {
            (true, Some(all)) => {
                format!("  {}/{all}", all - step.remaining_tasks.unwrap_or(all).min(all))
            }
            _ => String::new(),
        };
        let error =
            step.error.as_deref().map(|error| format!("  {}", plain(error))).unwrap_or_default();
        lines.push(Line::from(vec![
            Span::raw(format!("  {}  ", plain(&step.slug))),
            Span::styled(step.status.word(), Style::new().fg(step_colour(step.status))),
            Span::raw(format!("{tasks}{error}")),
        ]));
    }
    lines.push(Line::raw(""));
    lines.extend(why.reasons.iter().map(|it| Line::raw(plain(&it.sentence(why.now)))));
    let block = Block::bordered().title(format!(" {} ", plain(&record.flow)));
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }).block(block), area);
}

fn run_colour(status: RunStatus) -> Color {
    match status {
        RunStatus::Started => Color::Blue,
        RunStatus::Completed => Color::Green,
        RunStatus::Failed => Color::Red,
        RunStatus::Cancelled => Color::Yellow,
    }
}

fn step_colour(status: StepStatus) -> Color {
    match status {
        StepStatus::Created => Color::DarkGray,
        StepStatus::Started => Color::Blue,
        StepStatus::Completed => Color::Green,
        StepStatus::Failed => Color::Red,
        StepStatus::Skipped => Color::Yellow,
    }
}

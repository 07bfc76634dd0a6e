//! How it is shown.

use pgflow_runtime::RunStatus;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Paragraph, Row, Table, TableState};

use super::jobs::{draw_job, draw_jobs, need_rows};
use super::state::{List, Opened, State};
use crate::database::{Paint, Times, flat, spoken};

pub(super) fn draw(frame: &mut Frame<'_>, state: &mut State) {
    let [title, middle, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(3), Constraint::Length(1)])
            .areas(frame.area());
    let alive = state.seen.workers.iter().filter(|worker| worker.is_alive(state.seen.now)).count();
    let head = format!(" pgflow  {}  {alive} workers", state.database);
    frame.render_widget(Line::styled(head, Style::new().add_modifier(Modifier::REVERSED)), title);
    match state.opened {
        Some(Opened::Run(_)) => draw_run(frame, middle, state),
        Some(Opened::Job { .. }) => draw_job(frame, middle, state),
        None => draw_lists(frame, middle, state),
    }
    frame.render_widget(foot_line(state), foot);
}

/// A question comes first, then what is wrong, then what became of the last key.
fn foot_line(state: &State) -> Line<'static> {
    let help = match state.opened {
        Some(_) => "↑↓ scroll  esc back  r retry  c cancel  q quit",
        None => "tab lists  ↑↓ choose  enter open  r retry  c cancel  q quit",
    };
    let trouble = state.trouble.as_ref().filter(|_| state.question.is_none());
    match trouble {
        Some(trouble) => {
            Line::styled(format!(" error: {}", flat(trouble)), Style::new().fg(Color::Red))
        }
        None if state.message.is_empty() => Line::raw(format!(" {help}")),
        None => Line::raw(format!(" {}", flat(&state.message))),
    }
}

pub(super) fn times(state: &State) -> Times {
    Times::new(state.seen.now, state.is_utc, Paint::none())
}

fn draw_lists(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let [queues, runs, jobs, workers] = Layout::vertical([
        Constraint::Percentage(25),
        Constraint::Min(5),
        // Where there are none, runs have the room.
        if state.seen.jobs.is_empty() { Constraint::Length(3) } else { Constraint::Percentage(30) },
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
    let rows = state.seen.queues.iter().map(|queue| {
        Row::new([
            flat(&queue.slug),
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
    let rows = state.seen.runs.iter().map(|run| {
        let style = Style::new().fg(run_colour(run.status));
        Row::new([
            Cell::from(run.id.to_string()),
            Cell::from(flat(&run.flow)),
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
    let rows = state.seen.workers.iter().map(|worker| {
        let slots = worker.slots.map(|slots| slots.to_string()).unwrap_or_default();
        Row::new([
            worker.id.0.to_string(),
            flat(worker.host.as_deref().unwrap_or_default()),
            format!("{}/{slots}", worker.running),
            times.at(worker.seen_at),
            flat(&worker.serves()),
        ])
    });
    let titles = ["worker", "host", "tasks", "seen", "serves"];
    draw_table(frame, area, state, (List::Workers, "workers"), &titles, rows.collect());
}

fn draw_run(frame: &mut Frame<'_>, area: Rect, state: &mut State) {
    let Some(Opened::Run(known)) = &state.opened else { return };
    let lines = known.text(&times(state)).lines().map(styled).collect();
    let title = flat(&known.record.flow);
    draw_open(frame, area, (&mut state.scroll, &title), lines);
}

/// Lines in a frame, from where somebody has scrolled to: never beyond the last of them.
pub(super) fn draw_open(
    frame: &mut Frame<'_>,
    area: Rect,
    (scroll, title): (&mut u16, &str),
    lines: Vec<Line<'_>>,
) {
    let block = Block::bordered().title(format!(" {title} "));
    let inside = block.inner(area);
    let rows = lines.into_iter().flat_map(|line| wrapped(&line, usize::from(inside.width)));
    let rows: Vec<_> = rows.collect();
    let most = rows.len().saturating_sub(usize::from(inside.height));
    *scroll = (*scroll).min(u16::try_from(most).unwrap_or(u16::MAX));
    frame.render_widget(Paragraph::new(rows).scroll((*scroll, 0)).block(block), area);
}

/// A line in as many rows as it takes, so that they can be counted.
fn wrapped(line: &Line<'_>, width: usize) -> Vec<Line<'static>> {
    let (mut rows, mut row, mut used) = (Vec::new(), Line::default(), 0);
    for piece in line.styled_graphemes(Style::new()) {
        let span = Span::styled(piece.symbol.to_owned(), piece.style);
        if used > 0 && used + span.width() > width {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        used += span.width();
        row.push_span(span);
    }
    rows.push(row);
    rows
}

/// A line of a tree, in the colour of its sign.
fn styled(line: &str) -> Line<'static> {
    let colour = match line.trim_start().chars().next() {
        Some('✔') => Color::Green,
        Some('✖') => Color::Red,
        Some('▶') => Color::Blue,
        Some('○') => Color::DarkGray,
        Some('–' | '■') => Color::Yellow,
        _ => return Line::raw(line.to_owned()),
    };
    Line::styled(line.to_owned(), Style::new().fg(colour))
}

fn run_colour(status: RunStatus) -> Color {
    match status {
        RunStatus::Started => Color::Blue,
        RunStatus::Completed => Color::Green,
        RunStatus::Failed => Color::Red,
        RunStatus::Cancelled => Color::Yellow,
    }
}

//! What keys mean.

use pgflow_runtime::RunId;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::state::{List, Question, State};

/// What somebody wants that the lists alone cannot do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Nothing,
    Quit,
    Open(RunId),
    Retry(RunId),
    Cancel(RunId),
}

pub(super) fn wish(state: &mut State, key: KeyEvent) -> Wish {
    if key.kind != KeyEventKind::Press {
        return Wish::Nothing;
    }
    if let Some(question) = state.question.take() {
        state.message = String::new();
        return answer(question, key.code);
    }
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if is_control => return Wish::Quit,
        KeyCode::Char('q') => return Wish::Quit,
        KeyCode::Esc => state.opened = None,
        KeyCode::Tab if state.opened.is_none() => {
            (state.list, state.chosen) = (next(state.list), 0);
        }
        KeyCode::Down | KeyCode::Char('j') => {
            state.chosen = (state.chosen + 1).min(state.rows().saturating_sub(1));
        }
        KeyCode::Up | KeyCode::Char('k') => state.chosen = state.chosen.saturating_sub(1),
        KeyCode::Enter => return state.run().map_or(Wish::Nothing, Wish::Open),
        KeyCode::Char('r') => ask(state, "retry", Question::Retry),
        KeyCode::Char('c') => ask(state, "cancel", Question::Cancel),
        _ => {}
    }
    Wish::Nothing
}

fn next(list: List) -> List {
    match list {
        List::Runs => List::Queues,
        List::Queues => List::Workers,
        List::Workers => List::Runs,
    }
}

fn ask(state: &mut State, verb: &str, question: impl Fn(RunId) -> Question) {
    if let Some(run) = state.run() {
        state.message = format!("{verb} {run}? y/n");
        state.question = Some(question(run));
    }
}

fn answer(question: Question, key: KeyCode) -> Wish {
    match (question, key) {
        (Question::Retry(run), KeyCode::Char('y')) => Wish::Retry(run),
        (Question::Cancel(run), KeyCode::Char('y')) => Wish::Cancel(run),
        _ => Wish::Nothing,
    }
}

//! What keys mean.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::state::{List, Question, State, Target};

/// What somebody wants that the lists alone cannot do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Nothing,
    Quit,
    Open(Target),
    Retry(Target),
    Cancel(Target),
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
        KeyCode::Enter => return state.target().map_or(Wish::Nothing, Wish::Open),
        KeyCode::Char('r') => ask(state, "retry", Question::Retry),
        KeyCode::Char('c') => ask(state, "cancel", Question::Cancel),
        _ => {}
    }
    Wish::Nothing
}

fn next(list: List) -> List {
    match list {
        List::Runs => List::Jobs,
        List::Jobs => List::Queues,
        List::Queues => List::Workers,
        List::Workers => List::Runs,
    }
}

fn ask(state: &mut State, verb: &str, question: impl Fn(Target) -> Question) {
    if let Some(target) = state.target() {
        state.message = format!("{verb} {target}? y/n");
        state.question = Some(question(target));
    }
}

fn answer(question: Question, key: KeyCode) -> Wish {
    match (question, key) {
        (Question::Retry(target), KeyCode::Char('y')) => Wish::Retry(target),
        (Question::Cancel(target), KeyCode::Char('y')) => Wish::Cancel(target),
        _ => Wish::Nothing,
    }
}

//! What keys mean.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::state::{List, State, Target};

/// What somebody wants that the lists alone cannot do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Nothing,
    Quit,
    Act(Act),
}

/// What the database is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
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
        KeyCode::Esc => state.close(),
        KeyCode::Tab if state.opened.is_none() => {
            (state.list, state.chosen) = (next(state.list), 0);
        }
        code if state.opened.is_some() && rows(code).is_some() => {
            state.scroll = state.scroll.saturating_add_signed(rows(code).unwrap_or(0));
        }
        KeyCode::Down | KeyCode::Char('j') => {
            state.chosen = (state.chosen + 1).min(state.rows().saturating_sub(1));
        }
        KeyCode::Up | KeyCode::Char('k') => state.chosen = state.chosen.saturating_sub(1),
        KeyCode::Enter => {
            return state.target().map_or(Wish::Nothing, |target| Wish::Act(Act::Open(target)));
        }
        KeyCode::Char('r') => ask(state, "retry", Act::Retry),
        KeyCode::Char('c') => ask(state, "cancel", Act::Cancel),
        _ => {}
    }
    Wish::Nothing
}

/// How far a key scrolls what is open.
fn rows(code: KeyCode) -> Option<i16> {
    Some(match code {
        KeyCode::Down | KeyCode::Char('j') => 1,
        KeyCode::Up | KeyCode::Char('k') => -1,
        KeyCode::PageDown | KeyCode::Char(' ') => 20,
        KeyCode::PageUp => -20,
        KeyCode::Home => i16::MIN,
        KeyCode::End => i16::MAX,
        _ => return None,
    })
}

fn next(list: List) -> List {
    match list {
        List::Runs => List::Jobs,
        List::Jobs => List::Queues,
        List::Queues => List::Workers,
        List::Workers => List::Runs,
    }
}

fn ask(state: &mut State, verb: &str, question: impl Fn(Target) -> Act) {
    if let Some(target) = state.target() {
        state.message = format!("{verb} {target}? y/n");
        state.question = Some(question(target));
    }
}

fn answer(question: Act, key: KeyCode) -> Wish {
    if key == KeyCode::Char('y') { Wish::Act(question) } else { Wish::Nothing }
}

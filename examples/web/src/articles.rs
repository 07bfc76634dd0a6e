//! A flow that waits until somebody approves.

use std::sync::{Arc, Mutex, PoisonError};

use pgflow::prelude::*;

/// What a run starts with.
#[data]
pub struct Draft {
    /// What is to be published.
    pub text: String,
}

/// What somebody says to a draft.
#[data]
pub struct Approval {
    /// Who.
    pub by: String,
    /// Whether it may be published.
    pub is_approved: bool,
}

/// Letters that were sent: here they stay in the program.
#[derive(Clone, Debug, Default)]
pub struct Mailbox(Arc<Mutex<Vec<Letter>>>);

/// Asks somebody to approve.
#[derive(Clone, Debug, Serialize)]
pub struct Letter {
    /// What.
    pub text: String,
    /// Where to say so. Whoever has the letter may, so it goes to nobody else, and into no log.
    pub approve_at: String,
}

impl Mailbox {
    /// All letters.
    pub fn letters(&self) -> Vec<Letter> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn send(&self, letter: Letter) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(letter);
    }
}

/// Publishes a draft when somebody has approved it, which may take days: nothing is held until then.
#[flow(input = Draft)]
pub mod article {
    use super::{Approval, Draft, Hook, Letter, Mailbox, Result, State, Waiting};

    /// Asks somebody, and ends when they have answered.
    #[step]
    pub async fn approval(
        run: Draft,
        hook: Hook<Approval>,
        State(mailbox): State<Mailbox>,
    ) -> Result<Waiting<Approval>> {
        let approve_at = format!("/api/hooks/{}", hook.token());
        mailbox.send(Letter { text: run.text, approve_at });
        Ok(hook.wait())
    }

    /// Publishes it, or not.
    #[step(depends_on = [approval])]
    pub async fn publish(run: Draft, approval: Approval) -> Result<String> {
        let Approval { by, is_approved } = approval;
        let word = if is_approved { "approved" } else { "refused" };
        Ok(format!("{}: {word} by {by}", run.text))
    }
}

//! A check and its name.

use std::sync::Arc;

use pgflow_runtime::backend::Abilities;

use crate::kit::Cx;
use crate::subject::Later;

/// Something that every backend must do.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Its id in the specification.
    pub id: &'static str,
    /// What it says.
    pub title: &'static str,
    /// What a backend must be able to do for it to make sense.
    pub needs: Needs,
    /// Panics when the backend does something else.
    pub body: fn(Arc<Cx>) -> Later<'static, ()>,
}

/// What a check needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// Other processes that work on the same data.
    Processes,
    /// Transactions that a step's own SQL can share.
    Transactions,
}

impl Needs {
    /// Whether a backend with these abilities has it.
    pub fn are_met(self, abilities: Abilities) -> bool {
        match self {
            Self::Nothing => true,
            Self::Processes => abilities.multi_process,
            Self::Transactions => abilities.transactions,
        }
    }
}

/// `check!("C01", "what must be so", function)`.
macro_rules! check {
    ($id:literal, $title:literal, $function:path) => {
        $crate::check::check!($id, $title, $function, Nothing)
    };
    ($id:literal, $title:literal, $function:path, $needs:ident) => {
        $crate::Check {
            id: $id,
            title: $title,
            needs: $crate::Needs::$needs,
            body: |cx| Box::pin($function(cx)),
        }
    };
}

pub(crate) use check;

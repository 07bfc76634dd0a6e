//! A check and its name.

use std::sync::Arc;

use pgflow_runtime::backend::Backend;

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
    /// Jobs.
    Jobs,
    /// Streams.
    Streams,
    /// Tasks that wait.
    Waits,
    /// Schedules.
    Schedules,
    /// Pipelines.
    Pipelines,
}

impl Needs {
    /// Whether a backend has it.
    pub fn are_met(self, backend: &dyn Backend) -> bool {
        match self {
            Self::Nothing => true,
            Self::Processes => backend.abilities().multi_process,
            Self::Transactions => backend.abilities().transactions,
            Self::Jobs => backend.jobs().is_ok(),
            Self::Streams => backend.streams().is_ok(),
            Self::Waits => backend.waits().is_ok(),
            Self::Schedules => backend.schedules().is_ok(),
            Self::Pipelines => backend.pipelines().is_ok(),
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

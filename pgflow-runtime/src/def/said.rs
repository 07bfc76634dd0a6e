//! An entry of the table, as the macro writes it.

use pgflow_model::{OnSkip, StepKind, StepOptions};

use super::{StepDef, Waits};
use crate::extract::Need;
use crate::kept::AnyKept;
use crate::task::Call;

#[doc(hidden)]
impl StepDef {
    /// What every step says.
    pub const fn of(
        slug: &'static str,
        depends_on: &'static [&'static str],
        output_type: &'static str,
        kept: fn() -> AnyKept,
        call: Call,
    ) -> Self {
        Self { slug, depends_on, output_type, kept, call, ..Self::PLAIN }
    }

    pub const fn map(self) -> Self {
        Self { kind: StepKind::Map, ..self }
    }

    pub const fn only_if(self, pattern: &'static str) -> Self {
        Self { only_if: Some(pattern), ..self }
    }

    pub const fn unless(self, pattern: &'static str) -> Self {
        Self { unless: Some(pattern), ..self }
    }

    pub const fn when_unmet(self, when_unmet: OnSkip) -> Self {
        Self { when_unmet, ..self }
    }

    pub const fn when_exhausted(self, when_exhausted: OnSkip) -> Self {
        Self { when_exhausted, ..self }
    }

    pub const fn options(self, options: StepOptions) -> Self {
        Self { options, ..self }
    }

    pub const fn needs(self, needs: &'static [Option<Need>]) -> Self {
        Self { needs, ..self }
    }

    pub const fn takes_tx(self) -> Self {
        Self { takes_tx: true, ..self }
    }

    pub const fn has_stream(self) -> Self {
        Self { has_stream: true, ..self }
    }

    pub const fn waits(self, takes_hook: bool) -> Self {
        Self { waits: Some(Waits { takes_hook }), ..self }
    }

    pub const fn resources(self, resources: &'static [&'static str]) -> Self {
        Self { resources, ..self }
    }

    pub const fn rate(self, rate: &'static str) -> Self {
        Self { rate: Some(rate), ..self }
    }

    pub const fn takes_run(self) -> Self {
        Self { takes_run: true, ..self }
    }
}

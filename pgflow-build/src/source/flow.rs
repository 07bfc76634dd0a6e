//! A flow in the source, compared with the lock.

use pgflow_model::{Change, FlowShape, Impact};
use pgflow_syntax::{Errors, Flow, FlowItem, Standing, check, standing};
use proc_macro2::TokenStream;
use syn::{Attribute, Meta};

use super::Reader;
use super::scope::Scope;
use crate::location::SourceLocation;
use crate::problem::Problem;

/// A flow in the source.
#[derive(Clone, Debug)]
pub struct FoundFlow {
    /// Its graph, in the order of migrations.
    pub shape: FlowShape,
    /// Where its name is.
    pub place: SourceLocation,
    /// The version it says it is the code of; none for the newest.
    pub version: Option<u32>,
    /// How it differs from what the lock knows of it.
    pub comparison: Comparison,
}

/// How a flow in the source differs from what the lock knows of it.
#[derive(Clone, Debug)]
pub enum Comparison {
    /// The lock does not know it.
    New,
    /// It knows this version of it.
    With {
        /// The number of the version.
        version: u32,
        /// How the source differs.
        changes: Vec<Change>,
        /// What that means.
        impact: Impact,
    },
}

impl FoundFlow {
    /// Whether it is the newest version, as the lock has it.
    pub(crate) fn is_unchanged(&self) -> bool {
        let is_same = matches!(self.comparison, Comparison::With { impact: Impact::Nothing, .. });
        is_same && self.version.is_none()
    }
}

impl Reader<'_> {
    /// Reads a flow; one with errors is a problem, and the compiler shows it too.
    pub(super) fn flow(&mut self, marker: &Attribute, item: TokenStream, scope: &Scope) {
        let args = match &marker.meta {
            Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        let mut errors = Errors::default();
        if let Some(item) = errors.keep(syn::parse2::<FlowItem>(item)) {
            let flow = check(args, &item, &mut errors);
            if errors.is_empty()
                && let Some(comparison) = self.compare(&flow, &mut errors)
            {
                self.found.flows.push(FoundFlow {
                    shape: flow.shape().normalized(),
                    place: SourceLocation::of(&scope.file, item.ident.span()),
                    version: flow.version(),
                    comparison,
                });
            }
        }
        for error in errors.finish().into_iter().flatten() {
            let place = SourceLocation::of(&scope.file, error.span());
            self.found.problems.push(Problem::of_compiler(place, error.to_string()));
        }
    }

    fn compare(&self, flow: &Flow<'_>, errors: &mut Errors) -> Option<Comparison> {
        match standing(flow, self.lock, errors) {
            Standing::New => Some(Comparison::New),
            Standing::Known { locked, changes, impact } => {
                Some(Comparison::With { version: locked.version, changes, impact })
            }
            Standing::Wrong => None,
        }
    }
}

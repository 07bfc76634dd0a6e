//! Flows of one crate that have one slug.
//!
//! A macro sees one flow at a time, but the compiler runs all of a crate's in one process. Where that
//! should ever change, two such flows are found when both are registered, as those of two crates are.

use std::collections::HashMap;
use std::env;
use std::path::Path;
use std::sync::{LazyLock, Mutex};

use pgflow_syntax::{Errors, Flow};
use quote::ToTokens as _;

use crate::editor::is_editor;

type Key = (String, Option<u32>);

static SEEN: LazyLock<Mutex<HashMap<Key, String>>> = LazyLock::new(Mutex::default);

/// Reports a flow whose slug an earlier one of this crate has; names of queues ignore case. Several versions
/// of a flow may share it.
pub(crate) fn check(flow: &Flow<'_>, errors: &mut Errors) {
    // An editor expands a flow again at every key stroke, for many crates in one process.
    if is_editor() || env::var_os("CARGO_CRATE_NAME").is_none() || are_examples() {
        return;
    }
    let Ok(mut seen) = SEEN.lock() else { return };
    let (slug, module) = (&flow.slug, flow.item.ident.to_string());
    let Some(first) = seen.insert((slug.to_ascii_lowercase(), flow.version()), module) else {
        return;
    };
    let at = match &flow.slug_literal {
        Some(literal) => literal.to_token_stream(),
        None => flow.item.ident.to_token_stream(),
    };
    errors.at(
        at,
        format!(
            "flow `{first}` of this crate has the slug `{slug}` already\n\
             help: give one of them another: `#[flow(slug = \"…\")]`"
        ),
    );
}

/// Whether rustdoc has put the examples of a crate into one file. They are programs of their own, so each may name its
/// flow as it likes; refused, rustdoc would compile and link every one of them alone.
fn are_examples() -> bool {
    let name = |arg| Some(Path::new(&arg).file_name()?.to_str()?.starts_with("doctest_bundle_"));
    env::args_os().any(|arg| name(arg).unwrap_or_default())
}

//! Payloads, as far as a page can take them.

use maud::{Markup, html};
use serde_json::Value;

/// What a page shows of one payload.
const MOST: usize = 32 << 10;

/// A payload under a heading.
pub(crate) fn payload(title: &str, value: Option<&Value>) -> Markup {
    html! {
        section.payload {
            h3 { (title) }
            @match value {
                None => p.none { "nothing yet" },
                Some(value) => (json(value)),
            }
        }
    }
}

/// JSON over several lines.
pub(crate) fn json(value: &Value) -> Markup {
    let whole = serde_json::to_string_pretty(value).unwrap_or_default();
    let shown = &whole[..whole.floor_char_boundary(MOST)];
    let left = whole.len() - shown.len();
    html! {
        pre tabindex="0" { code { (shown) } }
        @if left > 0 { p.none { "… and " (left) " bytes more" } }
    }
}

/// What an attempt said when it failed.
pub(crate) fn error(text: &str) -> Markup {
    let shown = &text[..text.floor_char_boundary(MOST)];
    html! { pre.error tabindex="0" { (shown) @if shown.len() < text.len() { "…" } } }
}

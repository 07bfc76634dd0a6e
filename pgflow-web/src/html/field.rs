//! Fields of forms that may be sent again with what they hold.

use maud::{Markup, html};
use pgflow_model::visible;

use crate::query::{Exact, encoded};

/// A field for a text; `list` names what it may be. Where the page shows the text otherwise than it is, the text itself goes along.
pub(crate) fn text(name: &str, text: &str, list: Option<&str>) -> Markup {
    html! {
        input name=(name) value=(text) list=[list] autocomplete="off" spellcheck="false";
        @if !is_shown_as_it_is(text) {
            input type="hidden" name={ (name) "_is" } value=(encoded(text));
        }
    }
}

/// A name of something, in a form that is about it.
pub(crate) fn hidden(name: &str, text: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(encoded(text)); }
}

/// What a field is about: the text that it was shown for, unless somebody has written another.
pub(crate) fn meant(sent: &mut String, shown_for: Exact) {
    if !is_shown_as_it_is(&shown_for.0) && *sent == shown(&shown_for.0) {
        *sent = shown_for.0;
    }
}

/// Whether what a page and a browser make of a text is the text.
pub(crate) fn is_shown_as_it_is(text: &str) -> bool {
    shown(text) == text
}

/// A field has one line.
fn shown(text: &str) -> String {
    visible(text).replace(['\n', '\r'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_meant_until_somebody_writes_another() {
        for (sent, shown_for, expected) in [
            ("docs", "", "docs"),
            ("a⟨U+200B⟩b", "a\u{200b}b", "a\u{200b}b"),
            ("ab", "a\nb", "a\nb"),
            ("other", "a\u{200b}b", "other"),
            // Somebody may be called like that.
            ("a⟨U+200B⟩b", "", "a⟨U+200B⟩b"),
        ] {
            let mut text = sent.to_owned();
            meant(&mut text, Exact(shown_for.to_owned()));
            assert_eq!(text, expected);
        }
    }
}

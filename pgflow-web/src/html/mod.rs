//! Pieces that pages are made of. Everything that is put into them is escaped.

pub(crate) mod field;
pub(crate) mod payload;
pub(crate) mod shell;
pub(crate) mod spark;
pub(crate) mod status;
pub(crate) mod time;

use std::borrow::Cow;

use maud::Markup;

/// A page as it is sent. Whole pages go through here, so that no place with something hidden in it is forgotten.
pub(crate) fn visible(page: Markup) -> String {
    let page = page.into_string();
    match pgflow_model::visible(&page) {
        Cow::Borrowed(_) => page,
        Cow::Owned(shown) => shown,
    }
}

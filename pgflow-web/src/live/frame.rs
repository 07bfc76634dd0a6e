//! What listeners are sent: a region of a page as it is now.

use std::hash::{DefaultHasher, Hash, Hasher};

use maud::Markup;

use crate::html::visible;

/// A region of a page.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Two of the same id look the same, also to another process.
    pub(crate) id: String,
    pub(crate) html: String,
    /// Nothing can follow.
    pub(crate) is_last: bool,
}

impl Frame {
    pub(crate) fn new(region: Markup, is_last: bool) -> Self {
        Self { id: Self::id_of(&region), html: visible(region), is_last }
    }

    /// Says whether a browser has it already.
    pub(crate) fn id_of(region: &Markup) -> String {
        let mut hasher = DefaultHasher::new();
        region.0.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

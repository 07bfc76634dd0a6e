//! Pieces that pages are made of. Everything that is put into them is escaped.

pub(crate) mod payload;
pub(crate) mod shell;
pub(crate) mod spark;
pub(crate) mod status;
pub(crate) mod time;
mod visible;

pub(crate) use visible::visible;

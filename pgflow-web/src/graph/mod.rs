//! Flows as pictures: [laid out](layout) in layers from top to bottom, [drawn](draw) as SVG.

mod draw;
mod layout;
mod order;
mod place;

pub(crate) use draw::{Node, draw};

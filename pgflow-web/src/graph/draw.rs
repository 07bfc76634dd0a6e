//! The picture as SVG: no script is needed to look at it, and each step is a link.

use std::fmt::Write;

use maud::{Markup, html};

use super::layout::{Edge, Layout, NODE_HEIGHT, NODE_WIDTH, layout};
use crate::html::status::Look;

/// What fits into a step.
const LONGEST_NAME: usize = 19;
const LONGEST_NOTE: usize = 24;
/// Around the middle of a step's sign.
const RING: &str = "M0 -13A13 13 0 1 1 0 13A13 13 0 1 1 0 -13";

/// A step in a picture.
pub(crate) struct Node<'a> {
    pub(crate) slug: &'a str,
    pub(crate) depends_on: Vec<usize>,
    /// What it is in a run; nothing in the picture of a flow.
    pub(crate) look: Option<Look>,
    /// For a map: how much of it is done, in hundredths.
    pub(crate) ring: Option<u32>,
    /// A few words below its name.
    pub(crate) note: String,
    pub(crate) href: String,
}

/// Steps and what leads from one to the other.
pub(crate) fn draw(nodes: &[Node<'_>], label: &str) -> Markup {
    let depends_on: Vec<Vec<usize>> = nodes.iter().map(|node| node.depends_on.clone()).collect();
    let Layout { width, height, nodes: places, edges } = layout(&depends_on);
    html! {
        svg.graph viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="group" aria-label=(label) {
            @for edge in &edges {
                path class={ "edge" (ended(nodes[edge.to].look)) } d=(path(edge)) {}
            }
            @for (node, place) in nodes.iter().zip(&places) {
                (step(node, place.x - NODE_WIDTH / 2.0, place.y))
            }
        }
    }
}

fn step(node: &Node<'_>, x: f64, y: f64) -> Markup {
    let word = node.look.map_or("", Look::word);
    let state = if word.is_empty() { String::new() } else { format!(" is-{word}") };
    html! {
        a href=(node.href) class={ "node" (state) } data-step=(node.slug) transform={ "translate(" (round(x)) " " (round(y)) ")" } {
            title { (node.slug) @if !word.is_empty() { ": " (word) } @if !node.note.is_empty() { ", " (node.note) } }
            @if node.ring.is_some() {
                rect.behind x="5" y="5" width=(NODE_WIDTH) height=(NODE_HEIGHT) rx="9" {}
            }
            rect.box width=(NODE_WIDTH) height=(NODE_HEIGHT) rx="9" {}
            g transform="translate(26 26)" {
                @match node.ring {
                    Some(done) => {
                        path.track d=(RING) {}
                        path.done d=(RING) pathLength="100" stroke-dasharray={ (done) " 100" } {}
                    }
                    None => path.track d=(RING) {},
                }
                @if let Some(look) = node.look { path.sign d=(look.shape()) {} }
            }
            text.name x="48" y="23" { (cut(node.slug, LONGEST_NAME)) }
            text.note x="48" y="40" { (cut(&node.note, LONGEST_NOTE)) }
        }
    }
}

/// What leads to a step that has begun is drawn stronger.
fn ended(look: Option<Look>) -> &'static str {
    match look {
        None | Some(Look::Waiting) => "",
        Some(_) => " taken",
    }
}

/// Down, through all its points: straight where it passes a layer, curved between them.
fn path(edge: &Edge) -> String {
    let mut path = String::new();
    let mut points = edge.points.iter();
    let Some(first) = points.next() else { return path };
    // Writing to a String cannot fail.
    _ = write!(path, "M{} {}", round(first.x), round(first.y));
    let mut from = first;
    for to in points {
        let middle = f64::midpoint(from.y, to.y);
        let ([x1, x2], [y, end]) = ([from.x, to.x].map(round), [middle, to.y].map(round));
        _ = write!(path, "C{x1} {y} {x2} {y} {x2} {end}");
        from = to;
    }
    path
}

fn round(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    text.chars().take(longest - 1).chain(['…']).collect()
}

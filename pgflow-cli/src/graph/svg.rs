//! A picture of a flow, in layers.

use std::collections::HashMap;
use std::fmt::Write as _;

use pgflow_model::{FlowShape, StepKind, StepShape};

use super::{States, colours};

const WIDTH: usize = 190;
const HEIGHT: usize = 52;
const GAP: usize = 40;

/// Where a step's box is.
#[derive(Clone, Copy)]
struct Point {
    x: usize,
    y: usize,
}

/// Steps from top to bottom, each below all that it depends on.
pub(super) fn draw(shape: &FlowShape, states: &States) -> String {
    let places = places(shape);
    let right = places.values().map(|place| place.x + WIDTH).max().unwrap_or(WIDTH) + GAP;
    let bottom = places.values().map(|place| place.y + HEIGHT).max().unwrap_or(HEIGHT) + GAP;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {right} {bottom}\" width=\"{right}\" height=\"{bottom}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<title>{}</title>\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" \
         refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" \
         fill=\"#6b7280\"/></marker></defs>\n",
        escape(&shape.slug)
    );
    for step in &shape.steps {
        for dep in &step.depends_on {
            if let (Some(from), Some(to)) = (places.get(&**dep), places.get(&*step.slug)) {
                arrow(&mut svg, *from, *to);
            }
        }
    }
    for step in &shape.steps {
        if let Some(place) = places.get(&*step.slug) {
            node(&mut svg, step, *place, states);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn places(shape: &FlowShape) -> HashMap<&str, Point> {
    let mut layers: HashMap<&str, usize> = HashMap::new();
    let mut widths: HashMap<usize, usize> = HashMap::new();
    let mut places = HashMap::new();
    for step in &shape.steps {
        let before = step.depends_on.iter().filter_map(|dep| layers.get(&**dep).copied());
        let layer = before.max().map_or(0, |layer| layer + 1);
        let column = widths.entry(layer).or_default();
        let place = Point { x: GAP + *column * (WIDTH + GAP), y: GAP + layer * (HEIGHT + GAP) };
        *column += 1;
        layers.insert(&step.slug, layer);
        places.insert(&*step.slug, place);
    }
    places
}

fn arrow(svg: &mut String, from: Point, to: Point) {
    let (x1, y1) = (from.x + WIDTH / 2, from.y + HEIGHT);
    let (x2, y2) = (to.x + WIDTH / 2, to.y);
    let bend = GAP / 2;
    let _ = writeln!(
        svg,
        "<path d=\"M{x1} {y1}C{x1} {} {x2} {} {x2} {y2}\" fill=\"none\" stroke=\"#6b7280\" marker-end=\"url(#tip)\"/>",
        y1 + bend,
        y2 - bend
    );
}

fn node(svg: &mut String, step: &StepShape, place: Point, states: &States) {
    let state = states.get(&step.slug);
    let (border, inside) = state.map_or(("#374151", "#ffffff"), |status| colours(*status));
    let Point { x, y } = place;
    let _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\" fill=\"{inside}\" stroke=\"{border}\" \
         stroke-width=\"{}\"/>",
        if step.kind == StepKind::Map { 4 } else { 2 }
    );
    let mut line = |offset: usize, text: &str, colour: &str| {
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{colour}\">{}</text>",
            x + WIDTH / 2,
            y + offset,
            escape(text)
        );
    };
    line(22, &step.slug, "#111827");
    let below = state
        .map_or(if step.kind == StepKind::Map { "one task per element" } else { "" }, |it| {
            it.word()
        });
    line(40, below, border);
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

//! Where the steps of a flow are in its picture.
//!
//! A step is one layer below the lowest of those it depends on. An edge over several layers goes through a place of its own in
//! each, so that it passes beside the steps between. Layers are put in an [order](super::order) with few crossings, and
//! everything is then moved to the middle of what it is connected with: [place](super::place).

use super::order::untangle;
use super::place::place;
use crate::number::precise;

pub(super) const NODE_WIDTH: f64 = 196.0;
pub(super) const NODE_HEIGHT: f64 = 52.0;
const LAYER_HEIGHT: f64 = 92.0;
/// What an edge needs where it passes by.
const PASSAGE: f64 = 20.0;
const MARGIN: f64 = 8.0;
/// Places beside steps that edges may pass by. With more, no picture is worth the time: long edges go straight.
const MOST_PASSAGES: usize = 10_000;

/// A point of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// A picture.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// The middle of the upper edge of each step.
    pub(super) nodes: Vec<Point>,
    /// From a step to another, and the points that the edge goes through.
    pub(super) edges: Vec<Edge>,
}

#[derive(Debug)]
pub(super) struct Edge {
    pub(super) to: usize,
    pub(super) points: Vec<Point>,
}

/// A step, or a place where an edge passes by.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) layer: usize,
    pub(super) width: f64,
    /// Cells one layer above that it is connected with.
    pub(super) above: Vec<usize>,
    pub(super) below: Vec<usize>,
}

/// Cells by layer, from left to right.
pub(super) type Layers = Vec<Vec<usize>>;

/// Lays out steps, given what each depends on: always earlier ones.
pub(super) fn layout(depends_on: &[Vec<usize>]) -> Layout {
    let (mut cells, routes) = cells(depends_on);
    let count = cells.iter().map(|cell| cell.layer + 1).max().unwrap_or(0);
    let mut layers: Layers = vec![Vec::new(); count];
    for (index, cell) in cells.iter().enumerate() {
        layers[cell.layer].push(index);
    }
    connect(&mut cells, &routes);
    untangle(&cells, &mut layers);
    let middles = place(&cells, &layers);
    picture(depends_on.len(), &cells, &middles, &routes)
}

/// The cells that an edge goes through, both its ends included.
type Route = Vec<usize>;

fn cells(depends_on: &[Vec<usize>]) -> (Vec<Cell>, Vec<Route>) {
    let mut cells: Vec<Cell> = Vec::new();
    for above in depends_on {
        let layer = above.iter().map(|step| cells[*step].layer + 1).max().unwrap_or(0);
        cells.push(Cell::new(layer, NODE_WIDTH));
    }
    let mut edges = Vec::new();
    for (to, above) in depends_on.iter().enumerate() {
        edges.extend(above.iter().map(|&from| (from, to)));
    }
    let passages = |(from, to): &(usize, usize)| cells[*to].layer - cells[*from].layer - 1;
    let is_crowded = edges.iter().map(passages).sum::<usize>() > MOST_PASSAGES;
    let mut routes = Vec::new();
    for (from, to) in edges {
        let mut route = vec![from];
        if !is_crowded {
            for layer in cells[from].layer + 1..cells[to].layer {
                route.push(cells.len());
                cells.push(Cell::new(layer, PASSAGE));
            }
        }
        route.push(to);
        routes.push(route);
    }
    (cells, routes)
}

impl Cell {
    fn new(layer: usize, width: f64) -> Self {
        Self { layer, width, above: Vec::new(), below: Vec::new() }
    }
}

fn connect(cells: &mut [Cell], routes: &[Route]) {
    for route in routes {
        for pair in route.windows(2) {
            // What goes straight says nothing of the order of a layer.
            if cells[pair[0]].layer + 1 == cells[pair[1]].layer {
                cells[pair[0]].below.push(pair[1]);
                cells[pair[1]].above.push(pair[0]);
            }
        }
    }
}

fn picture(steps: usize, cells: &[Cell], middles: &[f64], routes: &[Route]) -> Layout {
    let sides =
        cells.iter().zip(middles).map(|(cell, x)| (x - cell.width / 2.0, x + cell.width / 2.0));
    let (left, right) =
        sides.fold((0.0_f64, 0.0_f64), |all, one| (all.0.min(one.0), all.1.max(one.1)));
    let top = |cell: usize| MARGIN + row(cells[cell].layer);
    let x = |cell: usize| middles[cell] - left + MARGIN;
    let through = |cell: usize, y: f64| Point { x: x(cell), y };
    let edge = |route: &Route| {
        let mut points = Vec::with_capacity(route.len() * 2);
        for &cell in route {
            if cell != route[0] {
                points.push(through(cell, top(cell)));
            }
            if cell != route[route.len() - 1] {
                points.push(through(cell, top(cell) + NODE_HEIGHT));
            }
        }
        Edge { to: route[route.len() - 1], points }
    };
    let layers = cells.iter().map(|cell| cell.layer).max().unwrap_or(0);
    Layout {
        width: right - left + 2.0 * MARGIN,
        height: row(layers) + NODE_HEIGHT + 2.0 * MARGIN,
        nodes: (0..steps).map(|step| through(step, top(step))).collect(),
        edges: routes.iter().map(edge).collect(),
    }
}

fn row(layer: usize) -> f64 {
    precise(layer as u64) * LAYER_HEIGHT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diamond_is_one() {
        let picture = layout(&[vec![], vec![0], vec![0], vec![1, 2]]);
        let [top, left, right, bottom] = picture.nodes[..] else { panic!("{picture:?}") };
        assert!((top.x - bottom.x).abs() < 0.01 && left.x < top.x && top.x < right.x);
        assert!((left.y - right.y).abs() < 0.01 && top.y < left.y && left.y < bottom.y);
        assert_eq!(picture.edges.len(), 4);
    }

    #[test]
    fn nothing_overlaps_and_everything_is_inside() {
        // Every step depends on one, two or three of those before it, in no particular order.
        let steps: Vec<Vec<usize>> = (0..200_usize)
            .map(|step| {
                (0..step.min(1 + step % 3)).map(|n| (step * 7919 + n * 104_729) % step).collect()
            })
            .map(|mut above: Vec<usize>| {
                above.sort_unstable();
                above.dedup();
                above
            })
            .collect();
        let picture = layout(&steps);
        for (index, node) in picture.nodes.iter().enumerate() {
            let half = NODE_WIDTH / 2.0;
            assert!(node.x >= half && node.x + half <= picture.width, "{index} is outside");
            assert!(node.y >= 0.0 && node.y + NODE_HEIGHT <= picture.height);
            for other in &picture.nodes[..index] {
                let apart = (node.x - other.x).abs() >= NODE_WIDTH
                    || (node.y - other.y).abs() >= NODE_HEIGHT;
                assert!(apart, "{node:?} and {other:?}");
            }
        }
        let edges: usize = steps.iter().map(Vec::len).sum();
        assert_eq!(picture.edges.len(), edges);
        let goes_down = |edge: &Edge| edge.points.windows(2).all(|pair| pair[0].y <= pair[1].y);
        assert!(picture.edges.iter().all(goes_down));
    }

    #[test]
    fn long_edges_of_a_crowd_go_straight() {
        let picture = layout(&(0..200).map(|step| (0..step).collect()).collect::<Vec<_>>());
        assert_eq!((picture.nodes.len(), picture.edges.len()), (200, 19_900));
        assert!(picture.edges.iter().all(|edge| edge.points.len() == 2));
        // Fewer still pass beside the steps between.
        let picture = layout(&[vec![], vec![0], vec![1], vec![0, 2]]);
        assert!(picture.edges.iter().any(|edge| edge.points.len() > 2));
    }

    #[test]
    fn nothing_at_all_is_a_picture_too() {
        assert!(layout(&[]).nodes.is_empty());
    }
}

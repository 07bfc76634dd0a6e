//! Layers in an order with few crossings.

use super::layout::{Cell, Layers};
use crate::number::precise;

/// After so many it hardly changes any more.
const SWEEPS: usize = 6;

/// Goes down and up, and sorts each layer by where the neighbours of its cells are.
pub(super) fn untangle(cells: &[Cell], layers: &mut Layers) {
    let mut rank = ranks(cells.len(), layers);
    for sweep in 0..SWEEPS {
        let is_down = sweep % 2 == 0;
        for step in 1..layers.len() {
            let layer = if is_down { step } else { layers.len() - 1 - step };
            sort(cells, &mut layers[layer], &mut rank, is_down);
        }
    }
}

fn ranks(count: usize, layers: &Layers) -> Vec<usize> {
    let mut ranks = vec![0; count];
    for layer in layers {
        for (rank, &cell) in layer.iter().enumerate() {
            ranks[cell] = rank;
        }
    }
    ranks
}

fn sort(cells: &[Cell], layer: &mut [usize], rank: &mut [usize], is_down: bool) {
    layer.sort_by(|&a, &b| {
        let [a, b] = [a, b].map(|cell| {
            let neighbours = if is_down { &cells[cell].above } else { &cells[cell].below };
            mean(neighbours.iter().map(|&cell| rank[cell])).unwrap_or(precise(rank[cell] as u64))
        });
        a.total_cmp(&b)
    });
    for (new, &cell) in layer.iter().enumerate() {
        rank[cell] = new;
    }
}

fn mean(ranks: impl Iterator<Item = usize>) -> Option<f64> {
    let (sum, count) = ranks.fold((0, 0), |(sum, count), rank| (sum + rank as u64, count + 1));
    (count > 0).then(|| precise(sum) / precise(count))
}

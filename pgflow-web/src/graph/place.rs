//! How far to the left or right everything is.

use super::layout::{Cell, Layers};
use crate::number::precise;

const GAP: f64 = 24.0;
const SWEEPS: usize = 8;

/// The middle of each cell: as near to the middle of its neighbours as the others in its layer allow.
pub(super) fn place(cells: &[Cell], layers: &Layers) -> Vec<f64> {
    let mut middles = vec![0.0; cells.len()];
    for layer in layers {
        settle(cells, layer, &mut middles);
    }
    for sweep in 0..SWEEPS {
        let is_down = sweep % 2 == 0;
        for step in 0..layers.len() {
            let layer = &layers[if is_down { step } else { layers.len() - 1 - step }];
            for &cell in layer {
                let neighbours = if is_down { &cells[cell].above } else { &cells[cell].below };
                if let Some(mean) = mean(neighbours.iter().map(|&cell| middles[cell])) {
                    middles[cell] = mean;
                }
            }
            settle(cells, layer, &mut middles);
        }
    }
    middles
}

/// Moves the cells of a layer apart, all together by as little as possible.
///
/// Measured from where each would be if all stood side by side, the middles must not fall from left to right; where
/// they do, those concerned take their mean.
fn settle(cells: &[Cell], layer: &[usize], middles: &mut [f64]) {
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(layer.len());
    // A block of cells: how many, and where they want to be together.
    let mut blocks: Vec<(u64, f64)> = Vec::new();
    for (index, &cell) in layer.iter().enumerate() {
        if index > 0 {
            let before = &cells[layer[index - 1]];
            offset += f64::midpoint(before.width, cells[cell].width) + GAP;
        }
        offsets.push(offset);
        let mut block = (1, middles[cell] - offset);
        while let Some(&(count, wish)) = blocks.last().filter(|(_, wish)| *wish > block.1) {
            let all = count + block.0;
            block = (all, (wish * precise(count) + block.1 * precise(block.0)) / precise(all));
            blocks.pop();
        }
        blocks.push(block);
    }
    let wishes = blocks.iter().flat_map(|&(count, wish)| (0..count).map(move |_| wish));
    for ((&cell, offset), wish) in layer.iter().zip(offsets).zip(wishes) {
        middles[cell] = wish + offset;
    }
}

fn mean(places: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = places.fold((0.0, 0), |(sum, count), place| (sum + place, count + 1));
    (count > 0).then(|| sum / precise(count))
}

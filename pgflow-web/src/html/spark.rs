//! Small charts.

use std::fmt::Write;

use maud::{Markup, html};

use crate::number::precise;

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 40.0;

/// A line over the last while. The label says in words what it shows.
pub(crate) fn line(values: &[f64], class: &str, label: &str) -> Markup {
    let points = points(values);
    let area = format!("0,{HEIGHT} {points} {WIDTH},{HEIGHT}");
    html! {
        svg class={ "spark " (class) } viewBox={ "0 -2 " (WIDTH) " " (HEIGHT + 4.0) } preserveAspectRatio="none" role="img" aria-label=(label) {
            polygon points=(area) {}
            polyline points=(points) {}
        }
    }
}

fn points(values: &[f64]) -> String {
    let most = values.iter().copied().fold(0.0, f64::max);
    let last = precise(values.len().saturating_sub(1).max(1) as u64);
    let mut points = String::new();
    for (index, value) in values.iter().enumerate() {
        let height = if most > 0.0 { value / most * HEIGHT } else { 0.0 };
        // Writing to a String cannot fail.
        _ = write!(points, "{:.1},{:.1} ", precise(index as u64) / last * WIDTH, HEIGHT - height);
    }
    points.truncate(points.trim_end().len());
    points
}

#[cfg(test)]
mod tests {
    use super::points;

    #[test]
    fn the_highest_is_at_the_top_and_nothing_is_a_flat_line() {
        assert_eq!(points(&[0.0, 5.0, 10.0]), "0.0,40.0 120.0,20.0 240.0,0.0");
        assert_eq!(points(&[0.0, 0.0]), "0.0,40.0 240.0,40.0");
        assert_eq!(points(&[3.0]), "0.0,0.0");
        assert_eq!(points(&[]), "");
    }
}

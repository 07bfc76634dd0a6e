//! Columns that stand below each other.

use std::fmt::Write as _;

/// Rows of cells. What is printed to a terminal may have colours in it, which take no room.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(titles: &[&str]) -> Self {
        Self { rows: vec![titles.iter().map(|title| (*title).to_owned()).collect()] }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// All rows, each on a line of its own.
    pub(crate) fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| visible(cell)).max()
        };
        let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                let _ = write!(line, "{cell}{:1$}  ", "", width - visible(cell));
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }
}

/// How many characters of a text are seen.
fn visible(text: &str) -> usize {
    let (mut count, mut is_code) = (0, false);
    for c in text.chars() {
        match c {
            '\x1b' => is_code = true,
            'm' if is_code => is_code = false,
            _ if is_code => {}
            _ => count += 1,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn colours_take_no_room() {
        let mut table = Table::new(&["a", "b"]);
        table.row(["\x1b[31mred\x1b[0m".to_owned(), "1".to_owned()]);
        table.row(["blue".to_owned(), "2".to_owned()]);
        assert_eq!(table.text(), "a     b\n\x1b[31mred\x1b[0m   1\nblue  2\n");
    }
}

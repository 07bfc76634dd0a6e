//! Did you mean …?

/// Words that people use for a scheme and that are too far from it to be found otherwise.
const ALIASES: &[(&str, &str)] =
    &[("pg", "postgres"), ("psql", "postgres"), ("mem", "memory"), ("maria", "mariadb")];

/// The known word that `word` was probably meant to be.
pub(super) fn suggest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if let Some((_, meant)) = ALIASES.iter().find(|(alias, _)| *alias == word) {
        return Some(meant);
    }
    let near = known.map(|known| (distance(word, known), known));
    near.min().filter(|(distance, _)| *distance <= 2).map(|(_, known)| known)
}

/// How many letters must be added, taken away or replaced.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

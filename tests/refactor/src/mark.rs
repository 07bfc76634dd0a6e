//! Writes down a place the way the compiler shows it.

use crate::Place;

/// A place, with the underlined part between `‹` and `›`.
///
/// ```
/// use pgflow_refactor_tests::place;
///
/// let it = place("src/lib.rs", "async fn report(links: ‹Vec<Url>›) -> Result<u32> {");
/// assert_eq!(it.token, "Vec<Url>");
/// assert_eq!(it.line, "async fn report(links: Vec<Url>) -> Result<u32> {");
/// ```
///
/// # Panics
/// When nothing is marked.
pub fn place(file: &str, marked: &str) -> Place {
    let (_, rest) = marked.split_once('‹').expect("a place has a mark");
    let (token, _) = rest.split_once('›').expect("a mark has an end");
    let line = marked.replace(['‹', '›'], "");
    Place { file: file.to_owned(), line, token: token.to_owned() }
}

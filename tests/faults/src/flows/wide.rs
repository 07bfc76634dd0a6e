//! A map of any width, with a step before and one behind.

use pgflow::prelude::*;

/// As many texts of 100 characters as it is told.
#[flow(input = u32, timeout = 60)]
pub(crate) mod texts {
    use super::*;

    #[step]
    pub(crate) async fn list(run: u32) -> Result<Vec<u32>> {
        Ok((0..run).collect())
    }

    #[step(map, depends_on = [list])]
    pub(crate) async fn each(item: u32) -> Result<String> {
        Ok(format!("{item:0100}"))
    }

    #[step(depends_on = [each])]
    pub(crate) async fn characters(each: Vec<String>) -> Result<usize> {
        Ok(each.iter().map(String::len).sum())
    }
}

//! A map of any width, with a step before and one behind.

use pgflow::prelude::*;

/// Two maps of as many megabytes each as it is told.
#[flow(input = u32, timeout = 60)]
pub(crate) mod twins {
    use super::*;

    #[step]
    pub(crate) async fn list(run: u32) -> Result<Vec<u32>> {
        Ok((0..run).collect())
    }

    #[step(map, depends_on = [list])]
    pub(crate) async fn left(item: u32) -> Result<String> {
        Ok(item.to_string().repeat(1_000_000).chars().take(1_000_000).collect())
    }

    /// Has to be given the run's input besides.
    #[step(map, depends_on = [left])]
    pub(crate) async fn right(item: String, run: u32) -> Result<String> {
        Ok(run.to_string().repeat(item.len()).chars().take(item.len()).collect())
    }

    #[step(map, depends_on = [left])]
    pub(crate) async fn behind(item: String) -> Result<usize> {
        Ok(item.len())
    }
}

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

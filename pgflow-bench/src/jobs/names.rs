//! Ids that nobody else uses. Short, since an id is written more than once, and in order, as ids that are made are.

use std::cell::Cell;

use uuid::Uuid;

/// Gives out the ids of one run of the benchmark.
#[derive(Debug)]
pub(crate) struct Names {
    /// What all of them begin with.
    pub(crate) prefix: String,
    next: Cell<u32>,
}

impl Names {
    pub(crate) fn new(run: Uuid) -> Self {
        Self::beginning(format!("~{:03x}", run.as_u128() & 0xfff))
    }

    /// All of these, from the first on: those given out before are gone.
    pub(crate) fn beginning(prefix: String) -> Self {
        Self { prefix, next: Cell::new(0) }
    }

    /// The next `count` of them.
    pub(crate) fn take(&self, count: u32) -> Vec<String> {
        let first = self.next.replace(self.next.get() + count);
        (first..first + count).map(|number| format!("{}{number:06x}", self.prefix)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_comes_twice() {
        let names = Names::new(Uuid::nil());
        assert_eq!(names.take(2), ["~000000000", "~000000001"]);
        assert_eq!(names.take(1), ["~000000002"]);
    }
}

//! The place of a step in the table of its flow, as a type: a constant per step would be dearer to check.

/// A number.
pub trait StepIndex {
    /// Its value.
    const INDEX: usize;
}

/// Nowhere: the step is wrong in some way, which is reported.
impl StepIndex for () {
    const INDEX: usize = usize::MAX;
}

macro_rules! digits {
    ($($digit:ident = $value:literal),*) => {$(
        #[doc = concat!("The digit ", $value, ".")]
        pub enum $digit {}
        impl StepIndex for $digit {
            const INDEX: usize = $value;
        }
    )*};
}
digits!(D0 = 0, D1 = 1, D2 = 2, D3 = 3, D4 = 4, D5 = 5, D6 = 6, D7 = 7, D8 = 8, D9 = 9);

/// A number and one more digit.
impl<Before: StepIndex, Last: StepIndex> StepIndex for (Before, Last) {
    const INDEX: usize = Before::INDEX * 10 + Last::INDEX;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_from_the_left() {
        assert_eq!(D7::INDEX, 7);
        assert_eq!(<((D1, D0), D3)>::INDEX, 103);
    }
}

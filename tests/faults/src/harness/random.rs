//! Numbers that depend on the seed only.

use std::ops::Range;

/// A stream of numbers: the same seed gives the same ones.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// For one experiment of a series with this seed.
    pub fn new(seed: u64, id: &str) -> Self {
        // FNV-1a, so that experiments of one series differ.
        let mix = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(id.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, mix))
    }

    /// The next one (`SplitMix64`).
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of these.
    pub fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.number() % (range.end - range.start).max(1)
    }

    /// An index into something of this length.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.number() % (length.max(1) as u64)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_is_a_stream() {
        let stream = |seed, id| {
            let mut random = Random::new(seed, id);
            [(); 4].map(|()| random.within(10..20))
        };
        assert_eq!(stream(1, "X01"), stream(1, "X01"));
        assert_ne!(stream(1, "X01"), stream(2, "X01"));
        assert_ne!(stream(1, "X01"), stream(1, "X02"));
        assert!(stream(7, "X05").iter().all(|number| (10..20).contains(number)));
    }
}

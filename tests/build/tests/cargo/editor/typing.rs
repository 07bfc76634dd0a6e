//! What a file looks like while somebody types.

/// Numbers that are the same in each run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("a small number")
    }
}

/// States of the file on the way from one text to the other: what differs is typed from its start, and
/// what was there is gone already. Some of them compile, and are not meant.
pub(crate) fn half_typed(before: &str, after: &str, random: &mut Random) -> Vec<String> {
    let start = common(before.chars(), after.chars());
    let rest = before.chars().count().min(after.chars().count()) - start;
    let end = common(before.chars().rev(), after.chars().rev()).min(rest);
    let after: Vec<char> = after.chars().collect();
    let typed = after.len() - end - start;
    let tail: String = after[after.len() - end..].iter().collect();
    let states = (0..=random.below(2)).map(|_| {
        let head = start + random.index(typed + 1);
        after[..head].iter().collect::<String>() + &tail
    });
    states.collect()
}

fn common(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

//! Waiting a little more or less, so that processes do not come back all at once.

use std::time::Duration;

/// Between half and one and a half times as long.
pub(super) fn jitter(about: Duration) -> Duration {
    // The low bits of a new id are random, and come from a generator we have anyway.
    let random = uuid::Uuid::now_v7().as_u128() & 0xffff;
    let share = f64::from(u32::try_from(random).unwrap_or(0)) / 65_536.0;
    about.mul_f64(0.5 + share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_within_half_and_one_and_a_half() {
        let second = Duration::from_secs(1);
        let waits: Vec<_> = (0..200).map(|_| jitter(second)).collect();
        assert!(waits.iter().all(|wait| (second / 2..second * 3 / 2).contains(wait)), "{waits:?}");
        assert!(waits.iter().any(|wait| *wait < second) && waits.iter().any(|wait| *wait > second));
    }
}

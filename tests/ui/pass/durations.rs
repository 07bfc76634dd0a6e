//! Durations in seconds and in words.
#![deny(warnings)]

use pgflow::prelude::*;

#[flow(timeout = "5m", base_delay = "1s", max_attempts = 4)]
mod billing {
    use super::*;

    #[step(timeout = "30s", start_delay = "1h30m", base_delay = 0, max_attempts = 1)]
    pub async fn fetch() -> Result<u8> {
        Ok(1)
    }

    #[step]
    pub async fn inherit() -> Result<u8> {
        Ok(1)
    }
}

fn main() {
    let shape = billing::Flow::shape();
    let flow: Vec<_> = shape.options.set().collect();
    assert_eq!(flow, [("max_attempts", 4), ("base_delay", 1), ("timeout", 300)]);
    let fetch: Vec<_> = shape.steps[0].options.set().collect();
    let expected = [("max_attempts", 1), ("base_delay", 0), ("timeout", 30), ("start_delay", 5400)];
    assert_eq!(fetch, expected);
    assert_eq!(shape.steps[1].options.set().count(), 0);
}

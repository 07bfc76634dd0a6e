//! What may be skipped is an `Option`; what cascades is not.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::testing::{StepStatus, block_on, run};

#[flow(input = Vec<u32>, max_attempts = 1)]
mod billing {
    use super::*;

    #[step(when_exhausted = skip)]
    pub async fn rate(run: Vec<u32>) -> Result<f64> {
        Ok(f64::from(*run.get(9).ok_or("too short")?))
    }

    #[step(map, when_exhausted = skip)]
    pub async fn double(item: u32) -> Result<u32> {
        Ok(item * 2)
    }

    #[step(when_exhausted = skip)]
    pub async fn discount() -> Result<Option<u8>> {
        Ok(None)
    }

    #[step(depends_on = [rate, double, discount])]
    pub async fn invoice(
        rate: Option<f64>,
        double: Option<Vec<u32>>,
        discount: Option<Option<u8>>,
    ) -> Result<(bool, Option<Vec<u32>>, Option<Option<u8>>)> {
        Ok((rate.is_some(), double, discount))
    }

    #[step(when_exhausted = skip_cascade)]
    pub async fn plan() -> Result<usize> {
        Err("no plan".into())
    }

    #[step(depends_on = [plan])]
    pub async fn seats(plan: usize) -> Result<usize> {
        Ok(plan)
    }
}

fn main() {
    let ran = block_on(run(billing::Flow, vec![1, 2])).expect("it runs");
    assert_eq!(ran.status::<billing::rate>(), StepStatus::Exhausted { attempts: 1 });
    let output = ran.output().expect("its outputs");
    let seats: Option<usize> = output.seats;
    assert_eq!(seats, None);
    assert!(!output.invoice.0);
    assert_eq!(output.invoice.1, Some(vec![2, 4]));
}

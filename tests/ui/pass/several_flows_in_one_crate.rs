//! Flows beside each other, with steps of the same names.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::testing::{block_on, run};

#[flow(input = u32)]
mod billing {
    use super::*;

    #[step]
    pub async fn fetch(run: u32) -> Result<u32> {
        Ok(run + 1)
    }
}

#[flow(input = String)]
mod reminders {
    use super::*;

    #[step]
    pub async fn fetch(run: String) -> Result<usize> {
        Ok(run.len())
    }
}

mod deeper {
    use pgflow::prelude::*;

    #[flow]
    pub mod reports {
        use super::*;

        #[step]
        pub async fn fetch() -> Result<()> {
            Ok(())
        }
    }
}

fn main() {
    let slugs = [billing::Flow::SLUG, reminders::Flow::SLUG, deeper::reports::Flow::SLUG];
    assert_eq!(slugs, ["billing", "reminders", "reports"]);

    assert_eq!(
        block_on(run(billing::Flow, 1)).expect("it runs").output().expect("a number").fetch,
        2
    );
    let reminder = block_on(run(reminders::Flow, &"four".into())).expect("it runs");
    assert_eq!(reminder.output().expect("a number").fetch, 4);
}

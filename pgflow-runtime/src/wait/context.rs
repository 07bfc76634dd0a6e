//! What a step's context can wait for.

use std::future::{Ready, ready};

use pgflow_machine::Timestamp;
use pgflow_machine::job::Moment;

use super::{ChildRun, ChildRuns, On, Wait, Waiting};
use crate::check::{Lasts, PutsOut, Starts, Takes, TakesAll};
use crate::{Context, DataError};

impl Context {
    /// Ends the attempt: the step is done after so much time, by the database's clock. Nothing is held meanwhile.
    ///
    /// ```
    /// use pgflow::prelude::*;
    /// use std::time::Duration;
    ///
    /// #[flow]
    /// mod reminder {
    ///     use super::*;
    ///     #[step]
    ///     pub async fn an_hour(ctx: Context) -> Result<Waiting<()>> {
    ///         Ok(ctx.sleep(Duration::from_secs(3_600)))
    ///     }
    /// }
    /// # fn main() {}
    /// ```
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn sleep<D, O>(&self, time: D) -> Waiting<O> where Self: Lasts<D> + PutsOut<(), O> {
        let time = <Self as Lasts<D>>::time(time);
        Waiting::new(Wait::on(On::Sleep(Moment::In(time))))
    }

    /// Ends the attempt: the step is done at this moment, by the database's clock; at once, if it is over.
    ///
    /// ```
    /// use pgflow::prelude::*;
    /// use pgflow::Timestamp;
    /// use pgflow::testing::Sim;
    /// use std::time::{Duration, SystemTime};
    ///
    /// /// The new year that clocks in London begin with.
    /// fn new_year_2030() -> Timestamp {
    ///     let since_1970 = Duration::from_secs(1_893_456_000);
    ///     (SystemTime::UNIX_EPOCH + since_1970).into()
    /// }
    ///
    /// #[flow]
    /// mod fireworks {
    ///     use super::*;
    ///     #[step]
    ///     pub async fn midnight(ctx: Context) -> Result<Waiting<()>> {
    ///         Ok(ctx.sleep_until(new_year_2030()))
    ///     }
    ///     #[step(depends_on = [midnight])]
    ///     pub async fn bang() -> Result<String> { Ok("bang".into()) }
    /// }
    ///
    /// # fn main() -> std::result::Result<(), pgflow::testing::SimError> {
    /// let mut sim = Sim::new().flow(fireworks::Flow); // begins with the year 2000
    /// let run = sim.start(fireworks::Flow, ())?;
    /// sim.run_until_idle();
    /// assert_eq!(sim.output(&run)?.bang, "bang");
    /// assert_eq!(sim.elapsed(), Duration::from_hours(24 * (365 * 30 + 8)));
    /// # Ok(())
    /// # }
    /// ```
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn sleep_until<O>(&self, moment: Timestamp) -> Waiting<O> where Self: PutsOut<(), O> {
        Waiting::new(Wait::on(On::Sleep(Moment::At(moment))))
    }

    /// A run of another flow, for the step to wait for. It is started if and only if the wait is recorded, in the same
    /// transaction: a crash before that leaves nothing, and the next attempt starts it once.
    ///
    /// ```
    /// use pgflow::prelude::*;
    ///
    /// #[flow(input = u32)]
    /// mod invoice {
    ///     #[step]
    ///     pub async fn total(run: u32) -> pgflow::Result<u32> { Ok(run * 3) }
    /// }
    ///
    /// #[flow(input = u32)]
    /// mod order {
    ///     use super::*;
    ///     #[step]
    ///     pub async fn bill(run: u32, ctx: Context) -> Result<Waiting<invoice::Output>> {
    ///         Ok(ctx.run(invoice::Flow, &run).await?.wait())
    ///     }
    ///     #[step(depends_on = [bill])]
    ///     pub async fn pay(bill: invoice::Output) -> Result<u32> { Ok(bill.total) }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let run = pgflow::testing::block_on(pgflow::testing::run(order::Flow, 14))?;
    /// assert_eq!(run.output()?.pay, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[expect(clippy::needless_pass_by_value, reason = "an input may be owned")]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn run<F, I, G>(&self, _flow: F, input: G) -> Starting<ChildRun<<Self as Starts<F, I>>::Output>> where Self: Starts<F, I> + Takes<G, I> {
        let input = <Self as Starts<F, I>>::stored(<Self as Takes<G, I>>::taken(&input));
        ready(input.map(|input| ChildRun::new(<Self as Starts<F, I>>::DEF, input)))
    }

    /// A run per input, for the step to wait for: 10,000 at most, which are given 64 MB together at most.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn run_all<F, I, G>(&self, _flow: F, inputs: G) -> Starting<ChildRuns<<Self as Starts<F, I>>::Output>> where Self: Starts<F, I> + TakesAll<G, I> {
        let inputs = <Self as TakesAll<G, I>>::each(inputs, <Self as Starts<F, I>>::stored);
        ready(inputs.map(|inputs| ChildRuns::new(<Self as Starts<F, I>>::DEF, inputs)))
    }
}

/// What is ready at once, and may become a call one day.
type Starting<T> = Ready<Result<T, DataError>>;

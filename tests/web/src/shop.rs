//! A flow with a map, a step that is skipped, and tasks that wait and fail as a test wants it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pgflow::prelude::*;
use tokio::sync::Semaphore;

/// What a run is given.
#[data]
pub struct Order {
    /// Who ordered.
    pub customer: String,
    /// What.
    pub lines: Vec<String>,
    /// Whether it is a present.
    pub is_gift: bool,
}

/// What tests hold the tasks back with.
#[derive(Clone, Debug)]
pub struct Tools {
    /// Every line that is packed takes one.
    pub boxes: Arc<Semaphore>,
    /// Lines that are broken can be packed.
    pub glue: Arc<AtomicBool>,
}

impl Default for Tools {
    /// Boxes for everything, and no glue.
    fn default() -> Self {
        Self { boxes: Arc::new(Semaphore::new(1_000_000)), glue: Arc::default() }
    }
}

impl Tools {
    /// Without any boxes.
    pub fn without_boxes() -> Self {
        Self { boxes: Arc::new(Semaphore::new(0)), ..Self::default() }
    }

    /// From now on nothing fails.
    pub fn bring_glue(&self) {
        self.glue.store(true, Ordering::SeqCst);
    }
}

/// An order, from its check to its shipment.
#[flow(input = Order, max_attempts = 1, timeout = 60)]
pub mod orders {
    use super::{Order, Ordering, Result, State, Tools};

    #[step]
    async fn check(run: Order) -> Result<Order> {
        Ok(run)
    }

    #[step(depends_on = [check])]
    async fn reserve(check: Order) -> Result<usize> {
        Ok(check.lines.len())
    }

    #[step(depends_on = [check])]
    async fn lines(check: Order) -> Result<Vec<String>> {
        Ok(check.lines)
    }

    #[step(map, depends_on = [lines])]
    async fn pack(item: String, tools: State<Tools>) -> Result<String> {
        tools.boxes.acquire().await.map_err(|_| "there are no more boxes")?.forget();
        if item.contains("broken") && !tools.glue.load(Ordering::SeqCst) {
            return Err(format!("cannot pack {item}\nit is in two pieces").into());
        }
        Ok(format!("box with {item}"))
    }

    #[step(depends_on = [check], only_if = { "check": { "is_gift": true } })]
    async fn wrap(check: Order) -> Result<String> {
        Ok(format!("ribbon for {}", check.customer))
    }

    #[step(depends_on = [reserve])]
    async fn invoice(run: Order, reserve: usize) -> Result<String> {
        Ok(format!("{} owes {}", run.customer, reserve * 10))
    }

    #[step(depends_on = [pack, invoice])]
    async fn ship(pack: Vec<String>, invoice: String) -> Result<String> {
        Ok(format!("{} boxes, {invoice}", pack.len()))
    }
}

impl Order {
    /// Of so many lines, all of them whole.
    pub fn of(lines: usize) -> Self {
        let lines = (1..=lines).map(|number| format!("vase no. {number}")).collect();
        Self { customer: "Ann".into(), lines, is_gift: false }
    }

    /// The same with a line that is broken.
    #[must_use]
    pub fn with(mut self, line: impl Into<String>) -> Self {
        self.lines.push(line.into());
        self
    }
}

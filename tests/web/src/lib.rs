//! What the tests of the dashboard share: a flow that does what a test tells it, a dashboard of it, and a real browser.

#![forbid(unsafe_code)]

mod browser;
mod cdp;
mod dashboard;
mod driver;
pub mod hostile;
mod shop;
mod shot;
mod sse;
mod teller;
mod visitor;

pub use browser::{Browser, drive};
pub use dashboard::{Answer, Dashboard};
pub use pgflow_worker_tests::Outcome;
pub use shop::{Order, Tools, orders};
pub use sse::{Listening, SseEvent, ask, listen};
pub use teller::{Breath, Story, tale};
pub use visitor::Visitor;

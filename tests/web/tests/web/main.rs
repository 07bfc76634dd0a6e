//! The dashboard in a real browser, and as programs meet it.

mod actions;
mod api;
mod application;
mod clicking;
mod escaping;
mod exact;
mod fan_out;
mod first_paint;
mod hooks;
mod http;
mod jobs;
mod live;
mod loopback;
mod measured;
mod mounted;
mod narrow;
mod place;
mod probes;
mod queues;
mod redaction;
mod signing_in;
mod waits;

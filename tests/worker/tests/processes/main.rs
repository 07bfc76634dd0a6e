//! Workers that are processes of their own: this test binary, started again.

mod child;
mod environment;
mod signals;
mod traces;

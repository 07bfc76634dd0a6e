//! Shapes of flows and compiling from them.

mod compare;
mod create_from_shape;
mod ensure_flow_compiled;
mod get_shape;

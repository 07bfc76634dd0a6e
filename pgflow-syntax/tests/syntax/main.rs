//! What is read from source, and what is refused.

mod problems;
mod shape;

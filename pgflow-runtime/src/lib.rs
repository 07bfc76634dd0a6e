//! What a flow needs to run: the databases it lives in.

#[cfg(feature = "postgres")]
pub mod postgres;

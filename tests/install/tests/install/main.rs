//! Installing, upgrading and refusing, on a real Postgres.

mod command;
mod concurrent;
mod crash;
mod emitted;
mod emitted_refuse;
mod extension;
mod owner;
mod pgmq;
mod refuse;
mod relations;
mod repeat;
mod strangers;

//! Servers that are there when they should, and end when they should.

mod database;
mod mariadb;
mod pgbouncer;
mod server;
mod victim;

//! What only MySQL and MariaDB have to prove.

mod hints;
mod locks;
mod migrating;
mod opening;
mod statements;

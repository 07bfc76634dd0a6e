//! Rules that no other test saw until `cargo xtask mutants` broke them.

mod conditions;
mod fences;
mod grants;
mod leftovers;
mod locks;
mod messages;
mod retry_locks;
mod stalled;

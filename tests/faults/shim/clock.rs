//! A wrong wall clock, for experiment X21. It is compiled by the experiment and loaded before the C library, whose
//! place it takes for two functions; that is why it can neither be a member of the workspace nor be without `unsafe`.
//!
//! `PGFLOW_CLOCK_SKEW` says by how many seconds the clock is off. Besides, it jumps back and forth by ten minutes every
//! second.

use std::ffi::{c_int, c_long, c_void};
use std::sync::OnceLock;

#[repr(C)]
pub struct Time {
    seconds: c_long,
    /// Nanoseconds or microseconds, depending on who asks.
    fraction: c_long,
}

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
}

#[cfg(target_arch = "x86_64")]
const CLOCK_GETTIME: c_long = 228;
#[cfg(target_arch = "aarch64")]
const CLOCK_GETTIME: c_long = 113;

const REALTIME: c_int = 0;
const REALTIME_COARSE: c_int = 5;
const JUMP: c_long = 600;

fn skew(now: c_long) -> c_long {
    static SKEW: OnceLock<c_long> = OnceLock::new();
    let read = || std::env::var("PGFLOW_CLOCK_SKEW").ok().and_then(|skew| skew.parse().ok());
    let skew = *SKEW.get_or_init(|| read().unwrap_or(0));
    if skew == 0 { 0 } else { skew + if now % 2 == 0 { JUMP } else { -JUMP } }
}

/// # Safety
/// As for the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut Time) -> c_int {
    let result = unsafe { syscall(CLOCK_GETTIME, clock, time) };
    if result == 0 && (clock == REALTIME || clock == REALTIME_COARSE) {
        unsafe { (*time).seconds += skew((*time).seconds) };
    }
    result as c_int
}

/// # Safety
/// As for the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(time: *mut Time, _zone: *mut c_void) -> c_int {
    let result = unsafe { clock_gettime(REALTIME, time) };
    if result == 0 {
        unsafe { (*time).fraction /= 1000 };
    }
    result
}

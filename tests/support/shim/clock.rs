//! A wrong clock, compiled by tests and loaded before the C library, whose place it takes for the functions that tell
//! the time of day; that is why it can neither be a member of the workspace nor be without `unsafe`.
//!
//! The time is later by as many seconds as the file says that `PGFLOW_CLOCK` names.

use std::ffi::{c_int, c_long, c_void};

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
}

#[cfg(target_arch = "x86_64")]
const CLOCK_GETTIME: c_long = 228;
#[cfg(target_arch = "aarch64")]
const CLOCK_GETTIME: c_long = 113;

const REALTIME: c_int = 0;

#[repr(C)]
pub struct Time {
    seconds: i64,
    fraction: i64,
}

fn later() -> i64 {
    let file = std::env::var_os("PGFLOW_CLOCK");
    let text = file.and_then(|file| std::fs::read_to_string(file).ok());
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// # Safety
/// As for the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut Time) -> c_int {
    let result = unsafe { syscall(CLOCK_GETTIME, clock, time) };
    if result == 0 && clock == REALTIME {
        unsafe { (*time).seconds += later() };
    }
    result as c_int
}

/// # Safety
/// As for the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(time: *mut Time, _zone: *mut c_void) -> c_int {
    let result = unsafe { clock_gettime(REALTIME, time) };
    if result == 0 {
        unsafe { (*time).fraction /= 1_000 };
    }
    result
}

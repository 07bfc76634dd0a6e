//! A full disk, for experiment X23. It is compiled by the experiment and loaded before the C library, whose place it takes for
//! the functions that write; that is why it can neither be a member of the workspace nor be without `unsafe`.
//!
//! While the file exists that `PGFLOW_DISK_FULL` names, no file can grow whose path contains `PGFLOW_DISK_FILES`. What
//! is there already can be overwritten, as on a disk that is really full.

use std::ffi::{c_int, c_long, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn __errno_location() -> *mut c_int;
}

#[cfg(target_arch = "x86_64")]
const NUMBERS: Numbers = Numbers { write: 1, pwrite: 18, lseek: 8, fallocate: 285 };
#[cfg(target_arch = "aarch64")]
const NUMBERS: Numbers = Numbers { write: 64, pwrite: 68, lseek: 62, fallocate: 47 };

struct Numbers {
    write: c_long,
    pwrite: c_long,
    lseek: c_long,
    fallocate: c_long,
}

const NO_SPACE: c_int = 28;
const FROM_HERE: c_int = 1;

struct Rule {
    full: PathBuf,
    files: String,
}

fn rule() -> Option<&'static Rule> {
    static RULE: OnceLock<Option<Rule>> = OnceLock::new();
    let read = || {
        let full = std::env::var_os("PGFLOW_DISK_FULL")?.into();
        Some(Rule { full, files: std::env::var("PGFLOW_DISK_FILES").ok()? })
    };
    RULE.get_or_init(read).as_ref()
}

/// Whether there is no room for what would end there.
fn is_refused(file: c_int, end: u64) -> bool {
    let Some(rule) = rule().filter(|rule| rule.full.exists()) else { return false };
    let link = format!("/proc/self/fd/{file}");
    let is_meant = |path: &Path| path.to_string_lossy().contains(&rule.files);
    let grows = || std::fs::metadata(&link).is_ok_and(|meta| meta.is_file() && meta.len() < end);
    std::fs::read_link(&link).is_ok_and(|path| is_meant(&path)) && grows()
}

fn refuse() -> isize {
    unsafe { *__errno_location() = NO_SPACE };
    -1
}

/// # Safety
/// As for the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(file: c_int, bytes: *const c_void, count: usize) -> isize {
    if rule().is_some() {
        let at = unsafe { syscall(NUMBERS.lseek, file, 0 as c_long, FROM_HERE) };
        if at >= 0 && is_refused(file, at as u64 + count as u64) {
            return refuse();
        }
    }
    unsafe { syscall(NUMBERS.write, file, bytes, count) as isize }
}

/// # Safety
/// As for the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite(file: c_int, bytes: *const c_void, count: usize, at: i64) -> isize {
    if is_refused(file, at as u64 + count as u64) {
        return refuse();
    }
    unsafe { syscall(NUMBERS.pwrite, file, bytes, count, at) as isize }
}

/// # Safety
/// As for the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite64(file: c_int, bytes: *const c_void, count: usize, at: i64) -> isize {
    unsafe { pwrite(file, bytes, count, at) }
}

/// # Safety
/// As for the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_fallocate(file: c_int, at: i64, count: i64) -> c_int {
    if is_refused(file, at as u64 + count as u64) {
        return NO_SPACE;
    }
    match unsafe { syscall(NUMBERS.fallocate, file, 0 as c_int, at, count) } {
        0 => 0,
        _ => unsafe { *__errno_location() },
    }
}

/// # Safety
/// As for the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fallocate64(file: c_int, mode: c_int, at: i64, count: i64) -> c_int {
    // Other modes make holes, and files no larger.
    if mode == 0 && is_refused(file, at as u64 + count as u64) {
        return refuse() as c_int;
    }
    unsafe { syscall(NUMBERS.fallocate, file, mode, at, count) as c_int }
}

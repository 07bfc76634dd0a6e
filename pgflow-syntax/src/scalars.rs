//! Types of the language itself.

/// Numbers of 128 bits, which JSON cannot hold.
const WIDE: [&str; 2] = ["i128", "u128"];

/// Whether this names a number, a letter or a truth value.
pub(crate) fn is_scalar(name: &str) -> bool {
    const SCALARS: [&str; 16] = [
        "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32",
        "u64", "usize", "f16", "f128",
    ];
    SCALARS.contains(&name) || is_wide(name)
}

/// Whether this names a number that JSON cannot hold.
pub(crate) fn is_wide(name: &str) -> bool {
    WIDE.contains(&name)
}

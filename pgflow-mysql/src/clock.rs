//! The server's clock: the only one that counts.

/// Microseconds since 1970, whatever time zone the session is in. All of a statement sees the same moment.
macro_rules! now {
    () => {
        "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))"
    };
}

pub(crate) use now;

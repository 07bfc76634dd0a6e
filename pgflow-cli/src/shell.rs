//! Names in commands that people copy into a shell.

use std::fmt::Write as _;

/// A word as a shell reads it, whatever is in it.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let is_seen = |text: &str| !text.contains(['\n', '\t']) && pgflow_model::visible(text) == text;
    if is_seen(text) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    let mut quoted = "$'".to_owned();
    for c in text.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            c if is_seen(c.encode_utf8(&mut [0; 4])) => quoted.push(c),
            // Writing to a String cannot fail.
            c => _ = write!(quoted, "\\U{:08X}", u32::from(c)),
        }
    }
    quoted + "'"
}

/// The same for an argument that is no option, whatever it begins with.
pub(crate) fn argument(text: &str) -> String {
    let separator = if text.starts_with('-') { "-- " } else { "" };
    format!("{separator}{}", word(text))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{argument, word};

    #[test]
    fn a_shell_reads_what_was_meant() {
        for text in [
            "docs",
            "",
            "two words",
            "it's",
            "$(id) `id` ;#",
            "-x",
            "a\nb\tc",
            "a\u{200b}\\'b",
            "ä\u{1b}[31m\u{e0041}",
        ] {
            let script = format!("printf %s {}", argument(text).replacen("-- ", "-- %s ", 1));
            let script = script.replace("printf %s -- %s", "printf -- %s");
            let printed =
                Command::new("bash").env("LC_ALL", "C.UTF-8").args(["-c", &script]).output();
            let printed = printed.expect("a shell").stdout;
            assert_eq!(String::from_utf8_lossy(&printed), text, "{script}");
            assert_eq!(pgflow_model::visible(&word(text)), word(text), "all of it is seen");
        }
    }

    #[test]
    fn what_needs_no_quotes_has_none() {
        assert_eq!(argument("invoice.ingest"), "invoice.ingest");
        assert_eq!(argument("two words"), "'two words'");
        assert_eq!(argument("-x"), "-- -x");
    }
}

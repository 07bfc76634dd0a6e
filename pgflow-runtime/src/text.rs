//! Messages that the compiler puts together.

/// A text made by the compiler.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; Self::ROOM],
    len: usize,
    is_full: bool,
}

impl Text {
    const ROOM: usize = 1024;
    const MORE: &str = "…";
    pub(crate) const EMPTY: Self = Self { bytes: [0; Self::ROOM], len: 0, is_full: false };

    /// The same text with more at its end, or with `…` if there is no room for it.
    pub(crate) const fn with(self, more: &str) -> Self {
        if self.is_full {
            return self;
        }
        if self.len + more.len() + Self::MORE.len() > Self::ROOM {
            return Self { is_full: true, ..self.and(Self::MORE) };
        }
        self.and(more)
    }

    /// The same text with a number at its end.
    pub(crate) const fn number(self, number: i128) -> Self {
        let text = if number < 0 { self.with("-") } else { self };
        text.digits(number.unsigned_abs())
    }

    const fn digits(self, number: u128) -> Self {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let text = if number < 10 { self } else { self.digits(number / 10) };
        text.with(DIGITS[(number % 10) as usize])
    }

    const fn and(mut self, more: &str) -> Self {
        let mut at = 0;
        while at < more.len() {
            self.bytes[self.len + at] = more.as_bytes()[at];
            at += 1;
        }
        self.len += more.len();
        self
    }

    /// The text.
    pub const fn as_str(&self) -> &str {
        match str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => Self::MORE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_where_there_is_no_room() {
        let long = "x".repeat(Text::ROOM - 5);
        let text = Text::EMPTY.with(&long).with(" and more").with("!");
        assert_eq!(text.as_str(), format!("{long}…"));
    }
}

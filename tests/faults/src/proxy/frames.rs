//! Bytes to messages.

/// Whose messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Postgres,
    MySql,
}

/// Cuts a stream of bytes into messages.
#[derive(Debug)]
pub(super) struct Frames {
    pub(super) buffer: Vec<u8>,
    protocol: Protocol,
    /// The first message of a client of Postgres has no kind.
    awaits_startup: bool,
}

impl Frames {
    pub(super) fn of_client(protocol: Protocol) -> Self {
        let awaits_startup = protocol == Protocol::Postgres;
        Self { buffer: Vec::new(), protocol, awaits_startup }
    }

    pub(super) fn of_server(protocol: Protocol) -> Self {
        Self { buffer: Vec::new(), protocol, awaits_startup: false }
    }

    /// The next whole message, as it came.
    pub(super) fn next(&mut self) -> Option<Frame> {
        let (length, frame) = self.measure()?;
        if self.buffer.len() < length {
            return None;
        }
        let rest = self.buffer.split_off(length);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        self.awaits_startup = false;
        Some(Frame { bytes, ..frame })
    }

    /// How long the next message is, and where its parts are.
    fn measure(&self) -> Option<(usize, Frame)> {
        let bytes = Vec::new();
        if self.protocol == Protocol::MySql {
            // Three bytes of length, a number, then the command and what belongs to it.
            let length: [u8; 3] = self.buffer.get(..3)?.try_into().ok()?;
            let length = u32::from_le_bytes([length[0], length[1], length[2], 0]);
            return Some((
                4 + usize::try_from(length).ok()?,
                Frame { bytes, kind: Some(4), body: 5 },
            ));
        }
        let kind = usize::from(!self.awaits_startup);
        let length: [u8; 4] = self.buffer.get(kind..kind + 4)?.try_into().ok()?;
        let length = kind + usize::try_from(u32::from_be_bytes(length)).ok()?;
        let frame = Frame { bytes, kind: (kind == 1).then_some(0), body: kind + 4 };
        Some((length, frame))
    }
}

/// A message.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) bytes: Vec<u8>,
    /// Where the byte is that says what it is.
    kind: Option<usize>,
    body: usize,
}

impl Frame {
    /// What it is; 0 for the first one of a client of Postgres.
    pub(super) fn kind(&self) -> u8 {
        self.kind.and_then(|at| self.bytes.get(at)).copied().unwrap_or(0)
    }

    /// The texts that its body begins with.
    pub(super) fn texts(&self) -> impl Iterator<Item = String> {
        self.bytes
            .get(self.body..)
            .unwrap_or_default()
            .split(|byte| *byte == 0)
            .map(|text| String::from_utf8_lossy(text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_postgres_come_out_whole() {
        let mut frames = Frames::of_client(Protocol::Postgres);
        frames.buffer.extend([0, 0, 0, 8, 0, 3, 0, 0]);
        frames.buffer.extend(b"Q\0\0\0\x0bCOMMIT\0P\0\0");
        assert_eq!(frames.next().map(|frame| frame.kind()), Some(0));
        let query = frames.next().expect("a query");
        assert_eq!((query.kind(), query.texts().next()), (b'Q', Some("COMMIT".to_owned())));
        assert!(frames.next().is_none(), "the rest is still on its way");
    }

    #[test]
    fn messages_of_mysql_come_out_whole() {
        let mut frames = Frames::of_client(Protocol::MySql);
        frames.buffer.extend(b"\x07\0\0\0\x03COMMIT\x05\0\0\0\x17");
        let query = frames.next().expect("a query");
        assert_eq!((query.kind(), query.texts().next()), (3, Some("COMMIT".to_owned())));
        assert!(frames.next().is_none(), "the rest is still on its way");
    }
}

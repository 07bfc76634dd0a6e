//! Bytes to messages of Postgres' protocol.

/// Cuts a stream of bytes into messages.
#[derive(Debug, Default)]
pub(super) struct Frames {
    pub(super) buffer: Vec<u8>,
    /// The first message of a client has no kind.
    awaits_startup: bool,
}

impl Frames {
    pub(super) fn of_client() -> Self {
        Self { awaits_startup: true, ..Self::default() }
    }

    pub(super) fn of_server() -> Self {
        Self::default()
    }

    /// The next whole message, as it came.
    pub(super) fn next(&mut self) -> Option<Frame> {
        let kind = usize::from(!self.awaits_startup);
        let length: [u8; 4] = self.buffer.get(kind..kind + 4)?.try_into().ok()?;
        let length = kind + usize::try_from(u32::from_be_bytes(length)).ok()?;
        if self.buffer.len() < length {
            return None;
        }
        let rest = self.buffer.split_off(length);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        let frame = Frame { body: kind + 4, bytes };
        self.awaits_startup = false;
        Some(frame)
    }
}

/// A message.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) bytes: Vec<u8>,
    body: usize,
}

impl Frame {
    /// Its kind; 0 for the first one of a client.
    pub(super) fn kind(&self) -> u8 {
        if self.body == 5 { self.bytes[0] } else { 0 }
    }

    /// The texts that its body begins with.
    pub(super) fn texts(&self) -> impl Iterator<Item = String> {
        self.bytes[self.body..]
            .split(|byte| *byte == 0)
            .map(|text| String::from_utf8_lossy(text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_whole() {
        let mut frames = Frames::of_client();
        frames.buffer.extend([0, 0, 0, 8, 0, 3, 0, 0]);
        frames.buffer.extend(b"Q\0\0\0\x0bCOMMIT\0P\0\0");
        assert_eq!(frames.next().map(|frame| frame.kind()), Some(0));
        let query = frames.next().expect("a query");
        assert_eq!((query.kind(), query.texts().next()), (b'Q', Some("COMMIT".to_owned())));
        assert!(frames.next().is_none(), "the rest is still on its way");
    }
}

//! What the server as a whole is set to.

use pgflow_machine::Limits;
use sqlx::MySqlConnection;

use crate::error::Result;
use crate::{Durability, MySqlError};

/// Packets also hold what stands around a payload.
const LEAST_PACKET: u64 = 1 << 20;
/// A payload travels as a JSON text in a JSON text, where each of its quotes is two characters.
const ROOM: u64 = 3;
/// Rows that are written together may fill this part of a packet, and so many bytes: a larger statement only waits longer.
const SHARE: u64 = 2;
const MOST: usize = 4 << 20;

const LOOK: &str = "
    select cast(@@global.innodb_flush_log_at_trx_commit as signed), cast(@@global.log_bin as signed),
           cast(@@session.binlog_format as char), cast(@@global.sync_binlog as signed),
           cast(@@session.max_allowed_packet as unsigned),
           (select support from information_schema.engines where engine = 'InnoDB')";

/// A row of [`LOOK`].
type Found = (i64, i64, String, i64, u64, Option<String>);

/// What matters of the server's settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Bytes of the largest packet.
    packet: u64,
}

impl Settings {
    /// Of a server, or a session, with such packets.
    pub(crate) fn of_packet(packet: u64) -> Self {
        Self { packet }
    }

    /// Reads them, and refuses what cannot work.
    pub(crate) async fn read(
        connection: &mut MySqlConnection,
        durability: Durability,
    ) -> Result<Self> {
        let found: Found = sqlx::query_as(LOOK).fetch_one(connection).await?;
        Ok(judge(&found, durability)?)
    }

    /// What payloads go through.
    pub(crate) fn limits(self) -> Limits {
        let defaults = Limits::default();
        Limits { max_bytes: defaults.max_bytes.min(self.part(ROOM)), ..defaults }
    }

    /// Bytes that a parameter with many rows may have.
    pub(crate) fn most_bytes(self) -> usize {
        MOST.min(self.part(SHARE))
    }

    /// One of so many parts of a packet.
    fn part(self, parts: u64) -> usize {
        usize::try_from(self.packet / parts).unwrap_or(usize::MAX)
    }
}

fn judge(
    (flush, log_bin, format, sync_log, packet, engine): &Found,
    durability: Durability,
) -> Result<Settings, MySqlError> {
    if !engine.as_deref().is_some_and(|support| matches!(support, "YES" | "DEFAULT")) {
        return Err(MySqlError::NoInnoDb);
    }
    if *log_bin != 0 && format.eq_ignore_ascii_case("statement") {
        return Err(MySqlError::StatementLog);
    }
    if *packet < LEAST_PACKET {
        return Err(MySqlError::SmallPackets { bytes: *packet, least: LEAST_PACKET });
    }
    if *flush != 1 {
        let why = format!(
            "the server has `innodb_flush_log_at_trx_commit = {flush}`, so a crash may undo the last commits"
        );
        refuse_or_warn(why, durability)?;
    } else if *log_bin != 0 && *sync_log != 1 {
        tracing::warn!(
            sync_binlog = sync_log,
            "a crash may leave replicas behind what was committed"
        );
    }
    Ok(Settings::of_packet(*packet))
}

fn refuse_or_warn(why: String, durability: Durability) -> Result<(), MySqlError> {
    if durability == Durability::Strict {
        return Err(MySqlError::NotDurable { why });
    }
    tracing::warn!("{why}; set it to 1, or the runs are not as durable as they should be");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> Found {
        (1, 0, "MIXED".to_owned(), 0, 16 << 20, Some("DEFAULT".to_owned()))
    }

    /// The settings above with one that differs.
    fn with(change: impl FnOnce(&mut Found)) -> Found {
        let mut found = found();
        change(&mut found);
        found
    }

    #[test]
    fn what_cannot_work_is_refused() {
        assert!(judge(&found(), Durability::Strict).is_ok());
        let judged = |change: fn(&mut Found)| judge(&with(change), Durability::Server);
        assert!(matches!(
            judged(|found| found.5 = Some("NO".to_owned())),
            Err(MySqlError::NoInnoDb)
        ));
        assert!(matches!(judged(|found| found.5 = None), Err(MySqlError::NoInnoDb)));
        let statements = judged(|found| (found.1, found.2) = (1, "STATEMENT".to_owned()));
        assert!(matches!(statements, Err(MySqlError::StatementLog)));
        assert!(judged(|found| found.2 = "STATEMENT".to_owned()).is_ok(), "there is no log");
        assert!(matches!(judged(|found| found.4 = 1024), Err(MySqlError::SmallPackets { .. })));
    }

    #[test]
    fn a_forgetful_server_is_refused_only_on_request() {
        for flush in [0, 2] {
            let forgetful = with(|found| found.0 = flush);
            assert!(judge(&forgetful, Durability::Server).is_ok());
            let error = judge(&forgetful, Durability::Strict).expect_err("it may lose commits");
            assert!(error.to_string().contains("innodb_flush_log_at_trx_commit"), "{error}");
        }
    }

    #[test]
    fn small_packets_make_small_payloads() {
        let limit = |packet| {
            let judged = judge(&with(|found| found.4 = packet), Durability::Server);
            judged.expect("it is large enough").limits().max_bytes
        };
        assert_eq!(limit(1 << 30), Limits::default().max_bytes);
        assert!(limit(2 << 20) < 1 << 20);
    }

    #[test]
    fn rows_that_are_written_together_fit_into_a_packet() {
        assert_eq!(Settings::of_packet(LEAST_PACKET).most_bytes(), 512 << 10);
        assert_eq!(Settings::of_packet(1 << 30).most_bytes(), MOST);
    }
}

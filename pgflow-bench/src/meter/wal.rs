//! WAL written, with and without full-page images.
//!
//! The first change to a page after a checkpoint logs the whole page. That is a cost of
//! checkpoints rather than of the work, and in a short window it can outweigh all else.

use std::ops::AddAssign;

use serde::Serialize;
use sqlx::PgConnection;

use crate::error::{Doing, Result};

/// Size of a page image when only their number is known.
const PAGE: f64 = 8192.0;

/// Bytes of WAL.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Wal {
    pub(crate) bytes: f64,
    /// Bytes of `bytes` that are full-page images; None when they cannot be told apart.
    pub(crate) image_bytes: Option<f64>,
}

impl Wal {
    pub(crate) fn without_images(self) -> Option<f64> {
        self.image_bytes.map(|images| (self.bytes - images).max(0.0))
    }
}

impl AddAssign for Wal {
    fn add_assign(&mut self, other: Self) {
        self.image_bytes = match (self.image_bytes, other.image_bytes) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) if self.bytes == 0.0 => a.or(b),
            _ => None,
        };
        self.bytes += other.bytes;
    }
}

/// How full-page images are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inspector {
    /// Reads the log itself: exact (Postgres 15 and later, with contrib).
    WalInspect,
    /// Counts images in `pg_stat_wal` and takes each for a full page, so it may count too much.
    StatWal,
    Nothing,
}

impl Inspector {
    pub(crate) async fn find(conn: &mut PgConnection) -> Self {
        let inspect = "create extension if not exists pg_walinspect schema pgflow_bench";
        if sqlx::query(inspect).execute(&mut *conn).await.is_ok() {
            return Self::WalInspect;
        }
        match sqlx::query("select wal_fpi from pg_stat_wal").execute(conn).await {
            Ok(_) => Self::StatWal,
            Err(_) => Self::Nothing,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::WalInspect => "pg_walinspect (exact)",
            Self::StatWal => "pg_stat_wal (estimate: images × 8 KiB)",
            Self::Nothing => "none",
        }
    }

    /// Bytes between two positions.
    pub(crate) async fn measure(
        self,
        conn: &mut PgConnection,
        from: &Position,
        to: &Position,
    ) -> Result<Wal> {
        let bytes: f64 = sqlx::query_scalar(
            "select pg_wal_lsn_diff($1::text::pg_lsn, $2::text::pg_lsn)::float8",
        )
        .bind(&to.lsn)
        .bind(&from.lsn)
        .fetch_one(&mut *conn)
        .await
        .doing("measuring the WAL")?;
        let image_bytes = match self {
            Self::WalInspect => inspect(conn, &from.lsn, &to.lsn).await,
            Self::StatWal => Some(((to.images - from.images) * PAGE).min(bytes)),
            Self::Nothing => None,
        };
        Ok(Wal { bytes, image_bytes })
    }
}

/// Where the log is, and how many page images it has seen.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct Position {
    lsn: String,
    images: f64,
}

impl Position {
    pub(crate) async fn read(conn: &mut PgConnection) -> Result<Self> {
        sqlx::query_as("select pg_current_wal_insert_lsn()::text as lsn, wal_fpi::float8 as images from pg_stat_wal")
            .fetch_one(conn)
            .await
            .doing("reading the WAL position")
    }
}

/// None when the log is gone already or holds nothing in this range.
async fn inspect(conn: &mut PgConnection, from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(0.0);
    }
    let sizes = "select sum(fpi_size)::float8
                 from pgflow_bench.pg_get_wal_stats($1::text::pg_lsn, least($2::text::pg_lsn, pg_current_wal_flush_lsn()))";
    sqlx::query_scalar(sizes).bind(from).bind(to).fetch_one(conn).await.ok().flatten()
}

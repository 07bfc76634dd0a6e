//! What a stretch of work cost: time on the clock, server CPU, WAL.

mod cpu;
mod wal;

use std::ops::AddAssign;
use std::time::{Duration, Instant};

use serde::Serialize;
use sqlx::PgConnection;

use crate::error::Result;
use cpu::ServerCpu;
use wal::{Inspector, Position};

pub(crate) use cpu::{of_process as process_cpu, own as own_cpu};
pub(crate) use wal::Wal;

/// Reads the server's meters over a connection that does nothing else.
pub(crate) struct Probe {
    pub(crate) conn: PgConnection,
    cpu: Option<ServerCpu>,
    inspector: Inspector,
}

/// The meters at one moment.
pub(crate) struct Mark {
    at: Instant,
    cpu: Option<Duration>,
    wal: Position,
}

/// The difference of two marks.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Cost {
    pub(crate) wall_s: f64,
    /// None when the server is not on this machine.
    pub(crate) cpu_s: Option<f64>,
    pub(crate) wal: Wal,
}

impl Probe {
    pub(crate) async fn new(mut conn: PgConnection) -> Result<Self> {
        let cpu = ServerCpu::find(&mut conn).await?;
        let inspector = Inspector::find(&mut conn).await;
        Ok(Self { conn, cpu, inspector })
    }

    /// Whether CPU can be read, and how full-page images are told apart.
    pub(crate) fn abilities(&self) -> (bool, &'static str) {
        (self.cpu.is_some(), self.inspector.name())
    }

    /// The clock is read last: what the probe itself needs comes before.
    pub(crate) async fn mark(&mut self) -> Result<Mark> {
        let wal = Position::read(&mut self.conn).await?;
        let cpu = self.read_cpu()?;
        Ok(Mark { at: Instant::now(), cpu, wal })
    }

    /// What happened since `mark`.
    pub(crate) async fn since(&mut self, mark: Mark) -> Result<Cost> {
        let wall = mark.at.elapsed();
        self.since_with_wall(mark, wall).await
    }

    /// The same where the caller knows better when the work ended.
    pub(crate) async fn since_with_wall(&mut self, mark: Mark, wall: Duration) -> Result<Cost> {
        let cpu = self.read_cpu()?;
        let end = Position::read(&mut self.conn).await?;
        let wal = self.inspector.measure(&mut self.conn, &mark.wal, &end).await?;
        let cpu_s = mark.cpu.zip(cpu).map(|(from, to)| to.saturating_sub(from).as_secs_f64());
        Ok(Cost { wall_s: wall.as_secs_f64(), cpu_s, wal })
    }

    /// None when the server is not on this machine.
    pub(crate) fn read_cpu(&self) -> Result<Option<Duration>> {
        self.cpu.as_ref().map(ServerCpu::total).transpose()
    }
}

impl Cost {
    /// What is left after a part of it.
    pub(crate) fn without(self, part: Self) -> Self {
        let wal = Wal {
            bytes: (self.wal.bytes - part.wal.bytes).max(0.0),
            image_bytes: self
                .wal
                .image_bytes
                .zip(part.wal.image_bytes)
                .map(|(all, part)| (all - part).max(0.0)),
        };
        let cpu_s = self.cpu_s.zip(part.cpu_s).map(|(all, part)| (all - part).max(0.0));
        Self { wall_s: (self.wall_s - part.wall_s).max(0.0), cpu_s, wal }
    }

    /// The same share of everything.
    pub(crate) fn scaled(self, share: f64) -> Self {
        let wal = Wal {
            bytes: self.wal.bytes * share,
            image_bytes: self.wal.image_bytes.map(|bytes| bytes * share),
        };
        Self { wall_s: self.wall_s * share, cpu_s: self.cpu_s.map(|seconds| seconds * share), wal }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.wall_s += other.wall_s;
        // A default cost has no CPU yet: it takes the other's.
        self.cpu_s = match (self.cpu_s, other.cpu_s) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        self.wal += other.wal;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_can_be_taken_off() {
        let wal = Wal { bytes: 10.0, image_bytes: None };
        let all = Cost { wall_s: 3.0, cpu_s: Some(2.0), wal };
        let left = all.without(Cost { wall_s: 1.0, cpu_s: Some(0.5), ..Cost::default() });
        assert!((left.wall_s - 2.0).abs() < 1e-9);
        assert_eq!(left.cpu_s, Some(1.5));
    }

    #[test]
    fn costs_add_up() {
        let part = Cost {
            wall_s: 1.0,
            cpu_s: Some(0.5),
            wal: Wal { bytes: 10.0, image_bytes: Some(4.0) },
        };
        let mut sum = Cost::default();
        sum += part;
        sum += part;
        assert!((sum.wall_s - 2.0).abs() < 1e-9);
        assert_eq!(sum.cpu_s, Some(1.0));
        assert_eq!(sum.wal.without_images(), Some(12.0));
    }
}

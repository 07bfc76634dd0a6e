//! Which statements have been applied.

use std::collections::BTreeMap;

use pgflow_backend::backend::BackendError;
use sqlx::MySqlConnection;

use super::Statement;
use crate::clock::now;
use crate::error::Result;

const CREATE: &str = "
    create table if not exists pgflow_migrations (
      name varchar(191) not null,
      checksum varchar(191) not null,
      begun_at bigint not null,
      done_at bigint,
      primary key (name)
    ) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin";

const EXISTS: &str = "
    select count(*) from information_schema.tables
     where table_schema = database() and table_name = 'pgflow_migrations'";

const READ: &str =
    "select name, checksum, done_at is not null from pgflow_migrations order by name";

const BEGIN: &str =
    concat!("insert into pgflow_migrations (name, checksum, begun_at) values (?, ?, ", now!(), ")");

const DONE: &str = concat!("update pgflow_migrations set done_at = ", now!(), " where name = ?");

const FORGET: &str = "delete from pgflow_migrations where name = ? and done_at is null";

/// What is known of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noted {
    Nothing,
    /// It may have been applied.
    Begun,
    Done,
}

/// What the database says.
#[derive(Debug, Default)]
pub(super) struct Journal {
    entries: BTreeMap<String, (String, bool)>,
}

pub(super) async fn exists(connection: &mut MySqlConnection) -> Result<bool> {
    let tables: i64 = sqlx::query_scalar(EXISTS).fetch_one(connection).await?;
    Ok(tables > 0)
}

pub(super) async fn create(connection: &mut MySqlConnection) -> Result<()> {
    sqlx::raw_sql(CREATE).execute(connection).await?;
    Ok(())
}

pub(super) async fn begin(connection: &mut MySqlConnection, statement: &Statement) -> Result<()> {
    let query = sqlx::query(BEGIN).bind(&statement.name).bind(&statement.checksum);
    query.execute(connection).await?;
    Ok(())
}

pub(super) async fn done(connection: &mut MySqlConnection, statement: &Statement) -> Result<()> {
    sqlx::query(DONE).bind(&statement.name).execute(connection).await?;
    Ok(())
}

/// As if the statement had not been begun.
pub(super) async fn forget(connection: &mut MySqlConnection, statement: &Statement) -> Result<()> {
    sqlx::query(FORGET).bind(&statement.name).execute(connection).await?;
    Ok(())
}

impl Journal {
    pub(super) async fn read(connection: &mut MySqlConnection) -> Result<Self> {
        let rows: Vec<(String, String, bool)> = sqlx::query_as(READ).fetch_all(connection).await?;
        let entries = rows.into_iter().map(|(name, sum, is_done)| (name, (sum, is_done)));
        Ok(Self { entries: entries.collect() })
    }

    /// The newest statement that was applied.
    pub(super) fn newest(&self) -> Option<String> {
        let done = self.entries.iter().filter(|(_, (_, is_done))| *is_done);
        done.map(|(name, _)| name.clone()).next_back()
    }

    pub(super) fn noted(&self, name: &str) -> Noted {
        match self.entries.get(name) {
            None => Noted::Nothing,
            Some((_, false)) => Noted::Begun,
            Some((_, true)) => Noted::Done,
        }
    }

    /// What is to be applied: the end of what this library knows, if the database has its beginning.
    pub(super) fn check<'s>(
        &self,
        known: &'s [Statement],
    ) -> Result<&'s [Statement], BackendError> {
        for (at, (name, (sum, is_done))) in self.entries.iter().enumerate() {
            let Some(known) = known.get(at) else {
                return Err(BackendError::Schema(format!(
                    "it is newer: migration {name} is not known here; update this program"
                )));
            };
            if *name != known.name {
                return Err(BackendError::Schema(format!(
                    "migration {name} was applied where {} was expected",
                    known.name
                )));
            }
            if *sum != known.checksum {
                return Err(BackendError::Schema(format!(
                    "migration {name} was applied with other contents than it has here"
                )));
            }
            if !is_done && at + 1 < self.entries.len() {
                return Err(BackendError::Schema(format!(
                    "migration {name} was not completed, but a later one was begun"
                )));
            }
        }
        let done = self.entries.values().filter(|(_, is_done)| *is_done).count();
        Ok(&known[done..])
    }
}

#[cfg(test)]
mod tests {
    use super::super::statements::all;
    use super::*;

    fn journal(done: usize, begun: usize) -> Journal {
        let known = all();
        let entry = |(at, statement): (usize, &Statement)| {
            (statement.name.clone(), (statement.checksum.clone(), at < done))
        };
        Journal { entries: known[..done + begun].iter().enumerate().map(entry).collect() }
    }

    #[test]
    fn what_is_missing_is_the_end() {
        let known = all();
        assert_eq!(Journal::default().check(&known).unwrap(), known);
        assert_eq!(journal(3, 0).check(&known).unwrap(), &known[3..]);
        assert_eq!(
            journal(3, 1).check(&known).unwrap(),
            &known[3..],
            "what was only begun is not done"
        );
        assert_eq!(journal(3, 1).noted(&known[3].name), Noted::Begun);
        assert_eq!(journal(known.len(), 0).check(&known).unwrap(), &[] as &[Statement]);
    }

    #[test]
    fn another_history_is_refused() {
        let known = all();
        let why = |change: fn(&mut Journal)| {
            let mut journal = journal(known.len(), 0);
            change(&mut journal);
            journal.check(&known).expect_err("it is another").to_string()
        };
        let newer =
            why(|journal| drop(journal.entries.insert("9999_x/01".into(), (String::new(), true))));
        assert!(newer.contains("newer") && newer.contains("9999_x/01"), "{newer}");
        let changed = why(|journal| journal.entries.values_mut().next().unwrap().0.push('x'));
        assert!(changed.contains("other contents"), "{changed}");
        let hole = why(|journal| drop(journal.entries.remove("0001_definitions/02")));
        assert!(hole.contains("was expected"), "{hole}");
        let undone = why(|journal| journal.entries.values_mut().next().unwrap().1 = false);
        assert!(undone.contains("not completed"), "{undone}");
    }
}

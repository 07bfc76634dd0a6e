//! The SQL of pgflow's tables and functions, for every database it runs on, as constants.
//!
//! `pgflow-postgres`, `pgflow-sqlite` and `pgflow-mysql` install it; this package only carries the files, so that
//! the crates which need them can be packaged. A further database is a folder beside `postgres/`,
//! `sqlite/` and `mysql/`, a line in `build.rs` and a module here.
//!
//! ```
//! let (name, sql) = pgflow_migrations::sqlite::NUMBERED[0];
//! assert_eq!(name, "0001_definitions");
//! assert!(sql.contains("create table"));
//! ```

/// A file: its name without folders and `.sql`, and its text.
pub type File = (&'static str, &'static str);

/// The core for Postgres: SQL functions on pgmq.
pub mod postgres {
    use crate::File;

    mod files {
        include!(concat!(env!("OUT_DIR"), "/postgres.rs"));
    }

    /// Tables, types and roles; each is applied once, in this order, and never changes.
    pub const NUMBERED: &[File] = files::NUMBERED;

    /// One function each, by name; applied again when it changes.
    pub const FUNCTIONS: &[File] = files::FUNCTIONS;

    /// Views, triggers and grants; applied again whenever anything changed.
    pub const AFTER: &[File] = files::AFTER;
}

/// The tables of the embedded default.
pub mod sqlite {
    use crate::File;

    mod files {
        include!(concat!(env!("OUT_DIR"), "/sqlite.rs"));
    }

    /// Each is applied once, in this order, and never changes.
    pub const NUMBERED: &[File] = files::NUMBERED;
}

/// The tables for MySQL and MariaDB.
pub mod mysql {
    use crate::File;

    mod files {
        include!(concat!(env!("OUT_DIR"), "/mysql.rs"));
    }

    /// Each is applied once, in this order and statement by statement, and never changes. A statement ends with a
    /// semicolon at the end of a line.
    pub const NUMBERED: &[File] = files::NUMBERED;
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{File, mysql, postgres, sqlite};

    /// Two functions of one name would take turns replacing each other's record.
    #[test]
    fn every_function_lies_in_a_folder_and_no_name_is_there_twice() {
        let functions = Path::new(env!("CARGO_MANIFEST_DIR")).join("postgres/functions");
        let entries = functions.read_dir().unwrap().map(|entry| entry.unwrap().path());
        assert_eq!(
            entries.filter(|path| !path.is_dir()).collect::<Vec<_>>(),
            Vec::<PathBuf>::new()
        );
        assert_eq!(postgres::FUNCTIONS.windows(2).find(|pair| pair[0].0 == pair[1].0), None);
    }

    #[test]
    fn no_list_is_empty_and_no_file_is() {
        for list in [
            postgres::NUMBERED,
            postgres::FUNCTIONS,
            postgres::AFTER,
            sqlite::NUMBERED,
            mysql::NUMBERED,
        ] {
            assert!(!list.is_empty() && list.iter().all(|(_, sql)| !sql.trim().is_empty()));
        }
    }

    #[test]
    fn numbers_are_dense() {
        let number = |(name, _): &File| name[..4].parse::<usize>().unwrap();
        for list in [postgres::NUMBERED, sqlite::NUMBERED, mysql::NUMBERED] {
            assert!(list.iter().map(number).eq(1..=list.len()));
        }
    }
}

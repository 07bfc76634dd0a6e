//! The migrations, as single statements.

use pgflow_migrations::mysql::NUMBERED;

use super::checksum;

/// A statement of a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    /// Its file and its number in it, so that names are in the order of application.
    pub(crate) name: String,
    pub(crate) sql: &'static str,
    pub(crate) checksum: String,
}

/// All statements, in their order.
pub(crate) fn all() -> Vec<Statement> {
    NUMBERED.iter().flat_map(|(file, text)| of_file(file, text)).collect()
}

fn of_file(file: &str, text: &'static str) -> Vec<Statement> {
    let statements = text.split_inclusive(";\n").map(str::trim).filter(|sql| !sql.is_empty());
    let numbered = statements.enumerate().map(|(at, sql)| Statement {
        name: format!("{file}/{:02}", at + 1),
        sql,
        checksum: checksum(sql),
    });
    numbered.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_application() {
        let names: Vec<_> = all().into_iter().map(|statement| statement.name).collect();
        assert!(names.is_sorted(), "{names:?}");
        assert_eq!(names[0], "0001_definitions/01");
    }

    #[test]
    fn a_file_is_cut_at_its_semicolons() {
        let cut =
            of_file("f", "-- One; two\ncreate table a (b int);\n\ninsert into a values (1);\n");
        let sql: Vec<_> = cut.iter().map(|statement| statement.sql).collect();
        assert_eq!(sql, ["-- One; two\ncreate table a (b int);", "insert into a values (1);"]);
    }

    /// What an unprivileged user may not do, and what only one of the two servers has.
    #[test]
    fn statements_ask_for_no_more_than_they_need() {
        for statement in all() {
            let sql = statement.sql.to_ascii_lowercase();
            for word in
                ["definer", "trigger", "procedure", "function", "event ", "global", "if not exists"]
            {
                let code: String =
                    sql.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
                assert!(!code.contains(word), "{}: {word}", statement.name);
            }
        }
    }
}

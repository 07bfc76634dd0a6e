//! Rows as structs, without the macros of sqlx, which take long to compile.

/// Makes a struct whose fields are read from the columns of the same names.
macro_rules! row {
    ($(#[$attribute:meta])* $seen:vis struct $name:ident { $($of:vis $field:ident: $type:ty,)+ }) => {
        $(#[$attribute])*
        #[derive(Debug)]
        $seen struct $name { $($of $field: $type,)+ }

        impl<'r> sqlx::FromRow<'r, sqlx::sqlite::SqliteRow> for $name {
            fn from_row(row: &'r sqlx::sqlite::SqliteRow) -> sqlx::Result<Self> {
                Ok(Self { $($field: sqlx::Row::try_get(row, stringify!($field))?,)+ })
            }
        }
    };
}

pub(super) use row;

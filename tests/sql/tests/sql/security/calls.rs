//! Every function, and arguments to call it with.

use crate::harness::Db;

/// A harmless value of a type.
pub(super) fn harmless(kind: &str, run: &str) -> String {
    match kind {
        "text" => "'f'".to_owned(),
        "text[]" => "array['a']".to_owned(),
        "uuid" => format!("'{run}'::uuid"),
        "uuid[]" => format!("array['{run}']::uuid[]"),
        "bytea[]" => "array['a'::bytea]".to_owned(),
        "jsonb" => "'{\"steps\": []}'::jsonb".to_owned(),
        "jsonb[]" => "array['1'::jsonb]".to_owned(),
        "integer" | "bigint" => "0".to_owned(),
        "integer[]" | "bigint[]" => format!("array[0]::{kind}"),
        "boolean" => "false".to_owned(),
        "interval" => "interval '900 years'".to_owned(),
        other => format!("null::{other}"),
    }
}

/// `(name, argument types)` of every function that can be called.
pub(super) async fn functions(db: &Db) -> Vec<(String, Vec<String>)> {
    let list = "select proname, (select string_agg(format_type(t, null), ',' order by n)
            from unnest(proargtypes::oid[]) with ordinality a(t, n))
        from pg_proc where pronamespace = 'pgflow'::regnamespace and prorettype <> 'trigger'::regtype
            and pronargs > 0 and prokind = 'f' order by 1";
    let split = |row: &String| {
        let (name, types) = row.split_once('|').expect("two columns");
        (name.to_owned(), types.split(',').map(str::to_owned).collect())
    };
    db.rows(list).await.iter().map(split).collect()
}

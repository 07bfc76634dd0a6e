//! Everything that is defined in the database, as text.

use crate::harness::Db;

const DUMP: &str = "
    select 'schema ' || nspname || ' ' || coalesce(nspacl::text, '') from pg_namespace
      where nspname not like 'pg\\_t%'
    union all
    select 'function ' || pg_get_functiondef(oid) || coalesce(proacl::text, '') from pg_proc
      where pronamespace in (select oid from pg_namespace where nspname in ('pgflow', 'pgmq', 'public'))
        and prokind in ('f', 'p')
    union all
    select concat_ws(' ', 'column', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull,
        pg_get_expr(adbin, adrelid), relkind, relacl)
      from pg_attribute join pg_class c on c.oid = attrelid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attnum > 0 and not attisdropped
        and relnamespace in (select oid from pg_namespace where nspname in ('pgflow', 'pgmq', 'public'))
    union all
    select concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
    union all
    select 'index ' || indexdef from pg_indexes where schemaname in ('pgflow', 'pgmq', 'public')
    union all
    select 'trigger ' || pg_get_triggerdef(oid) from pg_trigger
    union all
    select 'role ' || rolname || rolsuper from pg_roles where rolname not like 'pgflow\\_%'
    order by 1";

pub(super) async fn dump(db: &Db) -> Vec<String> {
    db.rows(DUMP).await
}

/// What was there before is there after, and nothing else.
pub(super) fn assert_same(before: &[String], after: &[String]) {
    let lost: Vec<_> = before.iter().filter(|line| !after.contains(line)).collect();
    let new: Vec<_> = after.iter().filter(|line| !before.contains(line)).collect();
    assert!(lost.is_empty() && new.is_empty(), "lost {lost:#?}\nnew {new:#?}");
}

#[tokio::test]
async fn the_dump_sees_every_kind_of_change() {
    let db = Db::with("select pgflow.create_flow('f')").await;
    for change in [
        "create table public.t (a int)",
        "alter table pgflow.runs add column x int",
        "drop function pgflow.check()",
        "alter table pgflow.runs drop constraint status_is_valid",
        "grant usage on schema pgflow to public",
        "create index on pgflow.runs (status)",
        "create or replace function pgflow.maybe_complete_run(run_id uuid) returns void language sql set search_path = '' as ''",
        "grant select on pgflow.runs to public",
        "select pgmq.create('g')",
    ] {
        let before = dump(&db).await;
        db.run(change).await;
        assert_ne!(before, dump(&db).await, "{change}");
    }
}

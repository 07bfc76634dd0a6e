//! Look-alikes of everything the core calls, which write down as whom they ran.

use crate::harness::{Db, Session};

/// A role with a schema of traps, granted everything that a user of the core may have.
pub(super) async fn attacker(db: &Db) -> (Session, String) {
    let name = db
        .one("select 'pgflow_attacker_' || oid from pg_database where datname = current_database()")
        .await;
    db.run(&format!(
        "create role {name} nologin;
         grant pgflow_client, pgflow_worker, pgflow_upkeep, pgflow_viewer to {name};
         create schema evil authorization {name};
         grant temporary on database {} to {name}",
        db.one("select current_database()").await
    ))
    .await;
    let mut session = db.session().await;
    session.run(&format!("set role {name}")).await;
    session.run("create table evil.marker (ran_as text, what text); grant insert on evil.marker to public").await;
    session.run(FUNCTIONS).await;
    session.run(OPERATORS).await;
    session.run(TEMPORARY_TABLES).await;
    session.run(TEMPORARY_TYPES).await;
    (session, name)
}

/// Every built-in function that the core's sources name.
const FUNCTIONS: &str = r#"
do $do$
declare v record; v_body text;
begin
  for v in
    select p.proname, pg_get_function_identity_arguments(p.oid) as args, format_type(p.prorettype, null) as result,
           (select string_agg('$' || n, ', ') from generate_series(1, p.pronargs) n) as names
      from pg_catalog.pg_proc p
     where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind = 'f' and not p.proretset
       and p.provariadic = 0 and p.prorettype <> 'internal'::regtype
       and not p.proargtypes::oid[] && array['internal'::regtype, '"any"'::regtype, 'cstring'::regtype]::oid[]
       and p.proname in (
         select m[1] from pg_catalog.pg_proc f, regexp_matches(f.prosrc, '([a-z_0-9]+)\s*\(', 'g') m
          where f.pronamespace in ('pgflow'::regnamespace, 'pgwf'::regnamespace))
  loop
    v_body := format('begin insert into evil.marker values (current_user, %L); return pg_catalog.%I(%s); end',
                     v.proname, v.proname, v.names);
    begin
      execute format('create function evil.%I(%s) returns %s language plpgsql as %L',
                     v.proname, v.args, v.result, v_body);
    exception when others then null; -- Not every signature can be written in plpgsql.
    end;
  end loop;
end $do$"#;

/// Every operator on the types that the core works with.
const OPERATORS: &str = r"
do $do$
declare v record;
begin
  for v in
    select o.oid, o.oprname, format_type(o.oprleft, null) as l, format_type(o.oprright, null) as r,
           format_type(o.oprresult, null) as result
      from pg_catalog.pg_operator o
     where o.oprnamespace = 'pg_catalog'::regnamespace and o.oprkind = 'b'
       and array[o.oprleft, o.oprright] <@ array['text', 'uuid', 'int4', 'int8', 'jsonb', 'bool', 'timestamptz',
         'interval', 'float8', 'numeric', '_text', '_uuid', '_int4', '_int8']::regtype[]::oid[]
  loop
    execute format('create function evil.op_%s(%s, %s) returns %s language plpgsql as
      $f$ begin insert into evil.marker values (current_user, %L); return $1 operator(pg_catalog.%s) $2; end $f$',
      v.oid, v.l, v.r, v.result, 'operator ' || v.oprname, v.oprname);
    execute format('create operator evil.%s (leftarg = %s, rightarg = %s, function = evil.op_%s)',
      v.oprname, v.l, v.r, v.oid);
  end loop;
end $do$";

/// Temporary tables that hide the core's.
const TEMPORARY_TABLES: &str = r"
do $do$
declare v text;
begin
  for v in select relname from pg_catalog.pg_class
            where relnamespace = 'pgflow'::regnamespace and relkind = 'r' loop
    execute format('create temporary table %I (like pgflow.%I)', v, v);
  end loop;
exception when insufficient_privilege then
  create temporary table runs (run_id uuid);
end $do$";

/// Temporary types that hide the built-in ones: reading a value of such a type runs the trap.
const TEMPORARY_TYPES: &str = r"
create function pg_temp.spring(what text) returns boolean language plpgsql as
  $f$ begin insert into evil.marker values (current_user, 'type ' || what); return true; end $f$;
do $do$
declare v text;
begin
  foreach v in array array['uuid', 'jsonb', 'jsonpath', 'text', 'timestamptz', 'regclass', 'float8'] loop
    execute pg_catalog.format('create domain pg_temp.%I as pg_catalog.%I check (pg_temp.spring(%L))', v, v, v);
  end loop;
end $do$";

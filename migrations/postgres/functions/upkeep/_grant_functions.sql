-- Lets a role use a schema and call the named functions of it and no others; false if the role is not there.
create or replace function pgflow._grant_functions(
  role_name text,
  function_names text[],
  schema_name text default 'pgflow'
) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_function regprocedure;
begin
  if not exists (select from pg_roles r where r.rolname = _grant_functions.role_name) then
    return false;
  end if;
  execute format('grant usage on schema %I to %I', schema_name, role_name);
  execute format('revoke all on all functions in schema %I from %I', schema_name, role_name);
  execute format('revoke all on all tables in schema %I from %I', schema_name, role_name);
  for v_function in
    select p.oid from pg_proc p
     where p.pronamespace = _grant_functions.schema_name::regnamespace and p.proname = any (function_names)
  loop
    execute format('grant execute on function %s to %I', v_function, role_name);
  end loop;
  return true;
end;
$$;

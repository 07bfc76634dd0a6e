-- Lets a role use the schema and call the named functions and no others; false if it is not there.
create or replace function pgflow._grant_functions(role_name text, function_names text[]) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_function regprocedure;
begin
  if not exists (select from pg_roles r where r.rolname = _grant_functions.role_name) then
    return false;
  end if;
  execute format('grant usage on schema pgflow to %I', role_name);
  execute format('revoke all on all functions in schema pgflow from %I', role_name);
  execute format('revoke all on all tables in schema pgflow from %I', role_name);
  for v_function in
    select p.oid from pg_proc p
     where p.pronamespace = 'pgflow'::regnamespace and p.proname = any (function_names)
  loop
    execute format('grant execute on function %s to %I', v_function, role_name);
  end loop;
  return true;
end;
$$;

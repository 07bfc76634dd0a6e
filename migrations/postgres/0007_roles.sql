-- The roles that grants go to, if whoever installs may create roles. They belong to the whole
-- server, so another database may have made them already.

do $$
declare
  v_role text;
begin
  if not (select r.rolsuper or r.rolcreaterole from pg_roles r where r.rolname = current_user) then
    raise notice 'pgflow: not allowed to create roles; see pgflow.grant_roles()';
    return;
  end if;
  foreach v_role in array array['pgflow_client', 'pgflow_worker', 'pgflow_viewer'] loop
    begin
      execute format('create role %I nologin', v_role);
    exception when duplicate_object or unique_violation then
      null;
    end;
  end loop;
end;
$$;

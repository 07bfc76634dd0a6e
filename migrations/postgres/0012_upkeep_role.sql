-- The role that may delete what ended long ago, if whoever installs may create roles; as those in 0007.

do $$
begin
  if not (select r.rolsuper or r.rolcreaterole from pg_roles r where r.rolname = current_user) then
    raise notice 'pgflow: not allowed to create roles; see pgflow.grant_roles()';
    return;
  end if;
  create role pgflow_upkeep nologin;
exception when duplicate_object or unique_violation then
  null;
end;
$$;

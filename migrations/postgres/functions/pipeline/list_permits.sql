-- All permits of a kind, by name. Locks nothing.
create or replace function pgflow.list_permits(kind text) returns table (name text, state jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query select p.name, p.state from pgflow.permits p where p.kind = list_permits.kind order by p.name;
end;
$$;

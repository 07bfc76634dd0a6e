-- What the attempt fails with whose child did not end well.
create or replace function pgflow._child_sentence(kind text, child text, ended text, error text) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format('child %s %s %s', kind, child, case ended when 'cancelled' then 'was cancelled' when 'deleted' then 'was deleted' else ended end)
         || coalesce(': ' || nullif(error, ''), '');
end;
$$;

-- Whether a wait has still to read what this run put out, so that it cannot go yet.
create or replace function pgflow._is_read_later(run_id uuid) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from pgflow.awaited a
     where a.child = _is_read_later.run_id::text and a.kind = 'run' and a.abandoned is null
  );
end;
$$;

-- Needs that are paused, by name: see pause_needs.
create or replace function pgflow.list_paused_needs() returns table (need text, paused_at timestamptz, paused_by text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select p.need, p.paused_at, p.paused_by from pgflow.paused_needs p order by p.need collate "C";
end;
$$;

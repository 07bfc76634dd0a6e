-- Keeps jobs of these needs from being leased, by whomever; those that are leased go on. Returns how many were not paused before.
create or replace function pgflow.pause_needs(needs text[], by text) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_paused int;
begin
  perform pgflow._check_needs(needs || coalesce(pause_needs.by, ''));
  insert into pgflow.paused_needs (need, paused_by)
  select distinct n, pause_needs.by from unnest(pause_needs.needs) n order by n
  on conflict do nothing;
  get diagnostics v_paused = row_count;
  return v_paused;
end;
$$;

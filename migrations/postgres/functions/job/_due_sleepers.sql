-- Up to `limit` sleepers of these needs whose moment has come, the first of each need first. Locked, and waits for nobody.
create or replace function pgflow._due_sleepers(p_now timestamptz, p_needs text[], p_limit int) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select d.id
      from (select distinct i as need from unnest(p_needs) i where i is not null) n
      cross join lateral (
        select j.id from pgflow.jobs j
         where j.state = 'sleeping' and j.need = n.need and j.wake_at <= p_now
         order by j.wake_at limit p_limit for no key update skip locked
      ) d
     limit p_limit);
end;
$$;

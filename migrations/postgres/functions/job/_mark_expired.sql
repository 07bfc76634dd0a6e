-- Takes up to `limit` ready jobs of each of these needs whose time is over out of the line; the sweep ends them, and all that are not in the way of
-- a claim. Waits for nobody.
create or replace function pgflow._mark_expired(p_now timestamptz, p_needs text[], p_limit int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids text[] := array(
    select e.id from unnest(p_needs) n(need) cross join lateral (
      select j.id from pgflow.jobs j
       where j.state = 'ready' and j.need = n.need and j.expires_at <= p_now
       order by j.expires_at limit p_limit for no key update skip locked) e);
  v_keys text[];
begin
  with marked as (
    update pgflow.jobs j set state = 'expired' where j.id = any (v_ids) returning j.key
  )
  select array_agg(m.key) filter (where m.key is not null) into v_keys from marked m;
  perform pgflow._line_up(v_keys, array_fill(0, array[coalesce(cardinality(v_keys), 0)]), false);
end;
$$;

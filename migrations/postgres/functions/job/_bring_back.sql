-- Brings jobs of these needs back in line whose leases have run out, or whose moment has come: those that are among the best `limit` with
-- those that are ready, so that a claim of so many takes them. With `any_order` the first that nobody holds, for when there is room left.
-- Waits for nobody. Returns how many.
create or replace function pgflow._bring_back(
  p_now timestamptz, p_needs text[], p_limit int, p_worker text, p_detail jsonb, p_any_order boolean default false
) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lapsed text[];
  v_sleepers text[];
begin
  if p_any_order then
    v_lapsed := pgflow._lapsed_jobs(p_now, p_needs, p_limit);
    v_sleepers := pgflow._due_sleepers(p_now, p_needs, p_limit - cardinality(v_lapsed));
  else
    select coalesce(array_agg(b.id) filter (where b.state = 'leased'), '{}'), coalesce(array_agg(b.id) filter (where b.state = 'sleeping'), '{}')
      into v_lapsed, v_sleepers
      from (
        select d.id, d.state
          from (select distinct i as need from unnest(p_needs) i where i is not null) n
          cross join lateral (
            (select j.id, j.state, j.priority, j.seq from pgflow.jobs j
              where j.state = 'leased' and j.need = n.need and j.look_at <= p_now and j.lease_until <= p_now
              order by j.look_at limit p_limit)
            union all
            (select j.id, j.state, j.priority, j.seq from pgflow.jobs j
              where j.state = 'sleeping' and j.need = n.need and j.wake_at <= p_now order by j.wake_at limit p_limit)
            union all
            (select j.id, j.state, j.priority, j.seq from pgflow.jobs j
              where j.state = 'ready' and j.need = n.need and (j.expires_at is null or j.expires_at > p_now)
              order by j.priority desc, j.seq limit p_limit)
          ) d
         order by d.priority desc, d.seq limit p_limit
      ) b;
  end if;
  return (select l.lapsed from pgflow._return_lapsed(p_now, v_lapsed, p_worker, p_detail) l) + pgflow._wake_sleepers(p_now, v_sleepers);
end;
$$;

-- Brings jobs back in line whose leases have run out, or whose moment has come: those of these needs that are among the best `limit` with
-- those that are ready, so that a claim of so many takes them, and those that keep a key from such a job. With `any_order` the best that
-- nobody holds, for when there is room left. Waits for nobody. Returns how many.
create or replace function pgflow._bring_back(
  p_now timestamptz, p_needs text[], p_limit int, p_worker text, p_detail jsonb, p_any_order boolean default false
) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- They stand by their moments, and are to be had by their places.
  v_depth int := greatest(p_limit, 1000);
  v_lapsed text[];
  v_sleepers text[];
  v_count int;
begin
  select coalesce(array_agg(b.id) filter (where b.state = 'leased'), '{}'), coalesce(array_agg(b.id) filter (where b.state = 'sleeping'), '{}')
    into v_lapsed, v_sleepers
    from (
      select d.id, d.state
        from (
          select o.id, o.state, o.priority, o.seq
            from (select distinct i as need from unnest(p_needs) i where i is not null) n
            cross join lateral (
              (select j.id, j.state, j.priority, j.seq from pgflow.jobs j
                where j.state = 'leased' and j.need = n.need and j.look_at <= p_now and j.lease_until <= p_now
                order by j.look_at limit v_depth)
              union all
              (select j.id, j.state, j.priority, j.seq from pgflow.jobs j
                where j.state = 'sleeping' and j.need = n.need and j.wake_at <= p_now order by j.wake_at limit v_depth)
              union all
              (select j.id, j.state, j.priority, j.seq from pgflow.jobs j
                where not p_any_order and j.state = 'ready' and j.need = n.need and (j.expires_at is null or j.expires_at > p_now)
                order by j.priority desc, j.seq limit p_limit)
            ) o
          union all
          select h.id, 'leased', h.priority, h.seq from pgflow._lapsed_holders(p_now, p_needs) h
          order by priority desc, seq offset 0
        ) d
        -- No more are locked than are brought back.
        left join lateral (
          select true as is_free from pgflow.jobs j where j.id = d.id and d.state <> 'ready' for no key update skip locked
        ) f on true
       where d.state = 'ready' or f.is_free
       limit p_limit
    ) b;
  v_count := (select l.lapsed from pgflow._return_lapsed(p_now, v_lapsed, p_worker, p_detail) l);
  -- Who calls through pgwf archives what was cancelled at a time of its own.
  if p_detail is null and v_count > 0 then
    perform pgflow._end_marked(v_lapsed, p_worker);
  end if;
  return v_count + pgflow._wake_sleepers(p_now, v_sleepers);
end;
$$;

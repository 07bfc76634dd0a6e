-- Lets jobs whose leases ran out too often in a row be leased again, their streak forgotten. Per item: cleared, no_concern or
-- unknown (no live job has that id).
create or replace function pgflow.clear_concern(ids text[], reason text default null, worker text default null)
returns table (id text, outcome text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_aside text[];
begin
  perform pgflow._check_job_batch(clear_concern.ids, null);
  perform pgflow._lock_jobs(clear_concern.ids);
  -- What nobody has noticed counts too, and is forgotten with the rest.
  perform pgflow._count_lapses(clear_concern.ids, clear_concern.worker);
  v_aside := array(select j.id from pgflow.jobs j where j.id = any (clear_concern.ids) and j.state = 'concern');
  perform pgflow._clear_concern(v_aside, clear_concern.worker, clear_concern.reason);
  perform pgflow._line_up(array_agg(j.key), array_agg(0))
     from pgflow.jobs j where j.id = any (clear_concern.ids) and j.key is not null;
  return query
    select i.id, case
        when i.was_aside and i.time = 1 then 'cleared'
        when exists (select from pgflow.jobs j where j.id = i.id) then 'no_concern'
        else 'unknown' end
      from (
        -- Those that were aside once more, without a place: a look at all of them for each would be slow.
        select u.id, u.n, row_number() over (partition by u.id order by u.n) as time, bool_or(u.n is null) over (partition by u.id) as was_aside
          from (select * from unnest(clear_concern.ids) with ordinality i
                union all select a, null from unnest(v_aside) a) u(id, n)
      ) i
     where i.n is not null
     order by i.n;
end;
$$;

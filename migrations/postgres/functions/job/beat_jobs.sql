-- Says that jobs are still being worked on: their leases last so many seconds from now. Per item: extended, lost
-- (somebody else has it, or it is over), or cancelled (asked for while it was worked on; not extended).
create or replace function pgflow.beat_jobs(ids text[], tokens text[], seconds double precision)
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
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_lasting text[];
  v_lapsed text[];
  v_lost text[];
  v_until timestamptz;
  v_soon timestamptz;
begin
  perform pgflow._check_job_batch(beat_jobs.ids, array[coalesce(pgflow._length(tokens), -1)]);
  if coalesce(beat_jobs.seconds, 0) <= 0 or beat_jobs.seconds > 3155760000 then
    raise exception 'A lease of % seconds is none', coalesce(beat_jobs.seconds::text, 'null')
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'bad_lease');
  end if;
  select array_agg(i.id) filter (where j.lease_until > v_now), array_agg(i.id) filter (where j.lease_until <= v_now)
    into v_lasting, v_lapsed
    from unnest(beat_jobs.ids, tokens) i(id, token)
    cross join lateral (select o.token, o.lease_until from pgflow.jobs o where o.id = i.id offset 0) j
   where j.token::text = i.token;
  perform from pgflow.jobs j where j.id = any (v_lasting) order by j.id for no key update;
  if v_lapsed is not null then
    v_lost := pgflow._out_of_reach(v_lapsed);
    tokens := array(
      select case when i.id <> all (v_lost) then i.token end from unnest(beat_jobs.ids, tokens) with ordinality i(id, token, n) order by i.n);
  end if;
  v_until := clock_timestamp() + make_interval(secs => beat_jobs.seconds);
  v_soon := clock_timestamp() + make_interval(secs => beat_jobs.seconds / 3);
  return query
    with extended as (
      update pgflow.jobs j
         set lease_until = v_until,
             -- Too early rather than too late, but not before the next beat: who looks would pass it each time.
             look_at = case when j.look_at between v_soon and v_until then j.look_at else v_until end
        from unnest(beat_jobs.ids, tokens) i(id, token)
        cross join lateral (select o.ctid as place from pgflow.jobs o where o.id = i.id offset 0) o
       where j.ctid = o.place and j.token::text = i.token and j.cancel_at is null
      returning j.id, j.token::text
    )
    select i.id, case
        when exists (select from extended e where e.id = i.id and e.token = i.token) then 'extended'
        when (select j.token::text from pgflow.jobs j where j.id = i.id) = i.token then 'cancelled'
        else 'lost' end
      from unnest(beat_jobs.ids, tokens) with ordinality i(id, token, n) order by i.n;
end;
$$;

-- Hands leases back unused: the jobs are in line again, at their old place, and nothing is counted. One that was to be
-- cancelled ends as that. Per item: applied, already_settled, fenced or unknown.
create or replace function pgflow.release_jobs(ids text[], tokens text[], worker text default null)
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
  v_held int[];
  v_back record;
begin
  perform pgflow._check_job_batch(release_jobs.ids, array[coalesce(cardinality(tokens), -1)]);
  v_held := pgflow._held_jobs(release_jobs.ids, tokens, false);
  with back as (
    update pgflow.jobs j
       set state = case when j.key is not null then 'parked' else 'ready' end, attempts = j.attempts - 1, forgiven = least(j.forgiven, j.attempts - 1),
           settled = j.token, token = null, lease_until = null, look_at = null
      from unnest(v_held) n join pgflow.jobs o on o.id = release_jobs.ids[n]
     where j.id = o.id and o.cancel_at is null
    returning j.id, j.need, j.key, o.token
  )
  select array_agg(b.id) as ids, array_agg(b.need) as needs, array_agg(b.token) as tokens,
         array_agg(b.id) filter (where b.key is null) as ready, array_agg(b.need) filter (where b.key is null) as ready_needs,
         array_agg(b.key) filter (where b.key is not null) as keys
    into v_back from back b;
  perform pgflow._trace_jobs('released', v_back.ids, v_back.needs, v_back.tokens, release_jobs.worker);
  perform pgflow._announce_jobs(v_back.ready, v_back.ready_needs);
  perform pgflow._end_jobs(
            array_agg(j.id), array_agg('cancelled'::text), null, null, release_jobs.worker, null,
            v_back.keys, array_fill(0, array[coalesce(cardinality(v_back.keys), 0)]))
     from unnest(v_held) n join pgflow.jobs j on j.id = release_jobs.ids[n] where j.cancel_at is not null;
  return query select * from pgflow._job_outcomes(release_jobs.ids, tokens, v_held, true);
end;
$$;

-- Ends leased jobs as done, with their outputs. Per item: applied, already_settled (with this token), fenced or unknown.
create or replace function pgflow.finish_jobs(ids text[], tokens text[], outputs jsonb[] default null, worker text default null)
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
  v_done record;
begin
  perform pgflow._check_job_batch(finish_jobs.ids, array[coalesce(pgflow._length(tokens), -1), pgflow._length(outputs)]);
  perform pgflow._check_payloads(outputs, null);
  v_held := pgflow._held_jobs(finish_jobs.ids, tokens);
  select array_agg(finish_jobs.ids[n]) as ids, array_agg('done'::text) as outcomes, array_agg(outputs[n]) as outputs
    into v_done from unnest(v_held) n;
  perform pgflow._end_jobs(v_done.ids, v_done.outcomes, v_done.outputs, null, finish_jobs.worker);
  return query select * from pgflow._job_outcomes(finish_jobs.ids, tokens, v_held);
end;
$$;

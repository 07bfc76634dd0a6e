-- Ends jobs as done without a lease: for an operator who did the work by hand. Per item: applied, refused (somebody has it,
-- or it sleeps, waits or is cancelled, as `status` says), already_settled or unknown.
create or replace function pgflow.complete_unheld_jobs(ids text[], outputs jsonb[] default null, worker text default null)
returns table (id text, outcome text, status text)
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
  v_free text[];
begin
  perform pgflow._check_job_batch(complete_unheld_jobs.ids, array[pgflow._length(outputs)]);
  perform pgflow._check_payloads(outputs, null);
  v_free := pgflow._unheld_jobs(complete_unheld_jobs.ids, complete_unheld_jobs.worker);
  perform pgflow._end_jobs(array_agg(i.id), array_agg('done'::text), array_agg(i.output), null, complete_unheld_jobs.worker, '{"unheld": true}')
     from (
       select distinct on (i.id) i.id, i.output from unnest(complete_unheld_jobs.ids, outputs) with ordinality i(id, output, n)
        where i.id = any (v_free) order by i.id, i.n
     ) i;
  return query select * from pgflow._unheld_outcomes(complete_unheld_jobs.ids, v_free);
end;
$$;

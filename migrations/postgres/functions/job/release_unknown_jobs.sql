-- Gives back, uncounted, what this worker holds and does not know of: jobs of a claim whose answer got lost. Returns how many.
create or replace function pgflow.release_unknown_jobs(worker text, known_ids text[], known_tokens text[]) returns int
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
  v_unknown record;
begin
  perform pgflow._check_job_batch(known_ids, array[coalesce(pgflow._length(known_tokens), -1)]);
  select array_agg(j.id) as ids, array_agg(j.token::text) as tokens into v_unknown
    from pgflow.jobs j
   where j.state = 'leased' and j.worker = release_unknown_jobs.worker
     and not exists (select from unnest(known_ids, known_tokens) k(id, token) where k.id = j.id and k.token = j.token::text);
  if v_unknown.ids is null then
    return 0;
  end if;
  return (
    select count(*)::int from pgflow.release_jobs(v_unknown.ids, v_unknown.tokens, release_unknown_jobs.worker) r
     where r.outcome = 'applied');
end;
$$;

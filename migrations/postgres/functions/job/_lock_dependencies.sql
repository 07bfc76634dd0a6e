-- Makes sure that what jobs are to wait for does not end before the edges to it are there: locks runs first, then jobs by
-- id, together with the jobs that are handed over (`own`). Returns per dependency how it ended, null where it has not, or
-- 'unknown' where there never was such a thing. Jobs in `coming` are about to be submitted: a job may wait for those that
-- come before it in the batch (`edge_jobs` says which one waits).
--
-- A run is told that somebody waits for it, so that its end looks for jobs.
--
-- A lock that finds its row gone had to wait for the end of a job: the archive is read by a later statement. Who hands
-- over locks so that of two who would close a ring together the second sees what the first did; nobody can wait for
-- a job that is only being submitted, so there a lock suffices that lets the dependency be worked on.
--
-- With `may_end` the jobs of `own` may end, and all that their end may concern is locked in the same pass: a second one would not be in
-- order, see _lock_jobs.
create or replace function pgflow._lock_dependencies(
  p_kinds text[],
  p_dependencies text[],
  p_own text[],
  p_coming text[],
  p_edge_jobs int[] default null,
  p_may_end boolean default false
) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_jobs text[] := array(
    select distinct d.id collate "C" from unnest(p_kinds, p_dependencies) d(kind, id) where d.kind = 'job' order by 1);
  v_runs uuid[] := array(select d.id::uuid from unnest(p_kinds, p_dependencies) d(kind, id) where d.kind = 'run');
  v_own text;
  -- An id of pgwf may be empty.
  v_before text;
begin
  if v_runs <> '{}' then
    perform from pgflow.runs r where r.run_id = any (v_runs) order by r.run_id for no key update;
    update pgflow.runs r set awaited = true where r.run_id = any (v_runs) and r.awaited is null and r.status = 'started';
  end if;
  if p_may_end then
    perform pgflow._lock_jobs(p_own, p_others => v_jobs);
  end if;
  for v_own in select o from unnest(p_own) o order by o collate "C" loop
    perform from pgflow.jobs j
      where j.id = any (v_jobs) and coalesce(j.id > v_before, true) and j.id < v_own order by j.id for share;
    perform from pgflow.jobs j where j.id = v_own for no key update;
    v_before := v_own;
  end loop;
  if p_own is null then
    perform from pgflow.jobs j where j.id = any (v_jobs) order by j.id for key share;
  else
    perform from pgflow.jobs j where j.id = any (v_jobs) and coalesce(j.id > v_before, true) order by j.id for share;
  end if;
  if v_jobs <> '{}' then
    perform set_config('pgflow.holds_jobs', 'on', true);
  end if;
  return array(
    select case
        when d.kind = 'run' then (
          -- One that has started since was not there to be told.
          select case when r.status = 'started' and r.awaited is null then 'unknown'
                   when r.status = 'started' then null when r.status = 'completed' then 'done' else r.status end
            from pgflow.runs r where r.run_id::text = d.id and r.run_id = d.id::uuid
          union all
          select 'unknown' where not exists (select from pgflow.runs r where r.run_id = d.id::uuid))
        when (select true from pgflow.jobs j where j.id = d.id) then null
        when (select true from pgflow.job_archive a where a.id = d.id) then (
          select a.outcome from pgflow.job_archive a where a.id = d.id)
        when array_position(p_coming, d.id) < d.job then null
        else 'unknown' end
      from unnest(p_kinds, p_dependencies, p_edge_jobs) with ordinality d(kind, id, job, n) order by d.n);
end;
$$;

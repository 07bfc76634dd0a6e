-- Ids of up to `max_jobs` jobs: live ones by their places, the last first, or those that ended, the last to end first; all of
-- them, or those of a state or outcome, a need, a key. To go on after a page, give the place of its last one, and when that ended.
create or replace function pgflow.find_jobs(
  ended boolean default false, state text default null, outcome text default null, need text default null, key text default null,
  before_at timestamptz default null, before_seq bigint default null, max_jobs int default 50
) returns setof text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
-- What is not asked for is left out of the plan, so that each question finds its index.
set plan_cache_mode = force_custom_plan
set jit = off
as $$
declare
  v_until bigint;
  v_step bigint := greatest(find_jobs.max_jobs, 1) * 4;
  v_left int := find_jobs.max_jobs;
  v_found int;
begin
  if find_jobs.ended then
    return query
      select a.id::text from pgflow.job_archive a
       where (find_jobs.outcome is null or a.outcome = find_jobs.outcome)
         and (find_jobs.need is null or a.need = find_jobs.need)
         and (find_jobs.key is null or a.key = find_jobs.key)
         and (find_jobs.before_at is null or (a.archived_at <= find_jobs.before_at
              and (a.archived_at < find_jobs.before_at or a.seq < find_jobs.before_seq)))
       order by a.archived_at desc, a.seq desc limit find_jobs.max_jobs;
    return;
  end if;
  -- There is no index in this order, which would make every submission larger: one of blocks finds a range of places.
  v_until := least(find_jobs.before_seq, (select s.last_value from pgflow.jobs_seq s) + 1);
  while v_left > 0 and v_until > 0 loop
    return query
      select j.id::text from pgflow.jobs j
       where j.seq < v_until and j.seq >= v_until - v_step
         and (find_jobs.state is null or j.state = find_jobs.state)
         and (find_jobs.need is null or j.need = find_jobs.need)
         and (find_jobs.key is null or j.key = find_jobs.key)
       order by j.seq desc limit v_left;
    get diagnostics v_found = row_count;
    v_left := v_left - v_found;
    v_until := v_until - v_step;
    v_step := v_step * 2;
  end loop;
end;
$$;

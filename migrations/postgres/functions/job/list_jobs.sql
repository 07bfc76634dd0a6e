-- Ids of up to `max_jobs` live jobs, or of those that ended, by place in line and after the place `after`: for pages; get_jobs says
-- the rest. All of them, or those of a need, or that ended as `outcome`.
create or replace function pgflow.list_jobs(ended boolean default false, outcome text default null, need text default null, after bigint default null, max_jobs int default 100)
returns setof text
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
  v_from bigint := coalesce(list_jobs.after, -1);
  v_last bigint;
  v_step bigint := greatest(list_jobs.max_jobs, 1) * 4;
  v_left int := coalesce(list_jobs.max_jobs, 100);
  v_found int;
begin
  if list_jobs.ended then
    return query
      select a.id::text from pgflow.job_archive a
       where a.seq > v_from and (list_jobs.need is null or a.need = list_jobs.need)
         and (list_jobs.outcome is null or a.outcome = list_jobs.outcome)
       order by a.seq limit v_left;
    return;
  end if;
  -- There is no index in this order, which would make every submission larger: one of blocks finds a range of places.
  v_last := (select s.last_value from pgflow.jobs_seq s);
  while v_left > 0 and v_from <= v_last loop
    return query
      select j.id::text from pgflow.jobs j
       where j.seq > v_from and j.seq <= v_from + v_step and (list_jobs.need is null or j.need = list_jobs.need)
       order by j.seq limit v_left;
    get diagnostics v_found = row_count;
    v_left := v_left - v_found;
    v_from := v_from + v_step;
    v_step := v_step * 2;
  end loop;
end;
$$;

-- Edges and keys of jobs: none that leads nowhere, none to what is over or does not go on by itself, no ring; one head per key.
create or replace function pgflow._check_job_edges() returns table (invariant text, run_id uuid, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  -- Planned once per session: this is called often where there are no jobs.
  return query
  select 'job_edge', null::uuid, format('job %s waits for %s %s, which is over, never was or does not know', e.waiter, e.kind, e.dependency)
    from pgflow.job_edges e
   where not case e.kind
     when 'job' then exists (select from pgflow.jobs j where j.id = e.dependency)
     else exists (select from pgflow.runs r where r.run_id::text = e.dependency and r.status = 'started' and r.awaited) end
     and not exists (select from pgflow.job_wakes w where w.dependency = e.dependency and w.kind = e.kind)
  union all
  select 'job_edge', null, format('job %s is not there, but waits for %s', e.waiter, e.dependency)
    from pgflow.job_edges e
   where not exists (select from pgflow.jobs j where j.id = e.waiter)
  union all
  select 'job_edge', null, format('edge %s of job %s has no place', e.place, e.waiter)
    from pgflow.job_edges e where e.place < 1
  union all
  select 'job_wake', null, format('%s %s is said to have ended as %s', w.kind, w.dependency, w.outcome)
    from pgflow.job_wakes w
    left join pgflow.job_archive a on w.kind = 'job' and a.id = w.dependency
   where w.kind not in ('job', 'run') or w.outcome not in ('done', 'failed', 'cancelled', 'crashed', 'expired')
      or a.outcome <> w.outcome or exists (select from pgflow.jobs j where w.kind = 'job' and j.id = w.dependency)
  union all
  -- Nothing contradicts itself here, but nobody goes on until somebody decides.
  select 'job_concern', null, format('job %s is in crash concern, and job %s waits for it', j.id, e.waiter)
    from pgflow.jobs j join pgflow.job_edges e on e.dependency = j.id and e.kind = 'job'
   where j.state = 'concern'
  union all
  select 'job_ring', null, format('job %s waits for itself', r.waiter)
    from unnest(pgflow._jobs_in_rings()) r(waiter)
  union all
  -- Whoever claims looks at the index alone.
  select 'job_ready', null, format('the index of ready jobs has %s of need %s, but the table has %s', i.jobs, t.need, t.jobs)
    from pgflow._ready_by_table() t
    left join pgflow._ready_by_index() i on i.need = t.need
   where i.jobs is distinct from t.jobs
  union all
  select 'job_key', null, format('key %s counts %s jobs, but has %s', k.key, k.jobs + k.noted, j.jobs)
    from (select coalesce(k.key, n.key) as key, coalesce(k.jobs, 0) as jobs, coalesce(n.jobs, 0) as noted, n.key is not null as is_noted
            from pgflow.job_keys k full join (select n.key, sum(n.jobs)::int as jobs from pgflow.job_key_notes n group by 1) n on n.key = k.key
          union all
          select distinct j.key, 0, 0, false from pgflow.jobs j
           where j.key is not null and not exists (select from pgflow.job_keys k where k.key = j.key)
             and not exists (select from pgflow.job_key_notes n where n.key = j.key)) k
    cross join lateral (select count(*) as jobs from pgflow.jobs j where j.key = k.key) j
   where k.jobs + k.noted <> j.jobs or (j.jobs = 0 and not k.is_noted)
  union all
  -- What is noted of a key is looked at by whoever has it next.
  select 'job_holder', null, format('key %s is held by %s, but %s is %s', k.key, coalesce(k.holder, 'nobody'), j.id, j.state)
    from pgflow.job_keys k
    join pgflow.jobs j on j.key = k.key
   where case j.state when 'leased' then k.holder is distinct from j.id
     else k.holder = j.id and not exists (select from pgflow.job_key_notes n where n.key = k.key) end
  union all
  select 'job_holder', null, format('key %s is held by %s, which is not there', k.key, k.holder)
    from pgflow.job_keys k
   where k.holder is not null and not exists (select from pgflow.jobs j where j.id = k.holder and j.key = k.key)
     and not exists (select from pgflow.job_key_notes n where n.key = k.key)
  union all
  select 'job_head', null, format('%s jobs of key %s and need %s are ready while %s has the key', l.ready, l.key, l.need, coalesce(k.holder, 'nobody'))
    from pgflow.job_keys k
    join (select j.key, j.need, count(*) as ready from pgflow.jobs j where j.state = 'ready' and j.key is not null group by 1, 2) l on l.key = k.key
   where l.ready > 1 or (k.holder is not null and not k.look)
  union all
  select 'job_head', null, format('job %s is parked, but nobody has its key %s, and it comes before all others', p.id, p.key)
    from pgflow.job_keys k
    join (
      select distinct on (j.key, j.need) j.* from pgflow.jobs j where j.state in ('ready', 'parked') and j.key is not null
       order by j.key, j.need, j.priority desc, j.seq
    ) p on p.key = k.key and p.state = 'parked'
   where k.holder is null and not k.look and not exists (select from pgflow.job_key_notes n where n.key = k.key);
end;
$$;

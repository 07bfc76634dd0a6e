-- Permits, who holds of them, and what is kept of messages. Holds whose leases are gone count for nothing: they are deleted when the
-- next units are granted.
create or replace function pgflow._check_permits() returns table (invariant text, run_id uuid, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
begin
  return query
  select 'held_units', null::uuid, format('%s units of resource %s are held, and there are %s', h.units, h.resource, p.state ->> 'capacity')
    from (
      select b.resource, sum(b.units) as units
        from (
          select distinct h.resource, h.batch, h.units
            from pgflow.permit_holds h join pgflow.jobs j on j.id = h.job and j.token = h.token
          union all
          select h.resource, null, h.units from pgflow._holds_of_tasks(null) h
        ) b group by 1
    ) h
    join pgflow.permits p on p.kind = 'resource' and p.name = h.resource
   where not p.lowered and h.units > (p.state ->> 'capacity')::bigint
  union all
  select 'hold_of_no_resource', null, format('job %s holds resource %s, which is not there', h.job, h.resource)
    from pgflow.permit_holds h
   where not exists (select from pgflow.permits p where p.kind = 'resource' and p.name = h.resource)
  union all
  select 'hold_of_no_resource', h.run_id, format('task %s of step %s holds resource %s, which is not there', h.task_index, h.step_slug, h.resource)
    from pgflow.task_holds h
   where not exists (select from pgflow.permits p where p.kind = 'resource' and p.name = h.resource)
  union all
  select 'hold_fence', h.run_id, format('the grant %s of resource %s to task %s of step %s is none of its', h.fence, h.resource, h.task_index, h.step_slug)
    from pgflow.task_holds h join pgflow.permits p on p.kind = 'resource' and p.name = h.resource
   where h.fence not between 1 and (p.state ->> 'fence')::bigint
  union all
  select 'hold_fence', null, format('the grant %s of resource %s to job %s is none of its', h.fence, h.resource, h.job)
    from pgflow.permit_holds h join pgflow.permits p on p.kind = 'resource' and p.name = h.resource
   where h.fence not between 1 and (p.state ->> 'fence')::bigint
  union all
  select 'hold_batch', null, format('the grant %s of resource %s was given to several', h.fence, h.resource)
    from pgflow.permit_holds h group by h.resource, h.fence having count(distinct (h.batch, h.units)) > 1
  union all
  select 'message_of_no_job', null, format('something is kept of message %s, which is no job', m.job)
    from pgflow.job_messages m
   where not exists (select from pgflow.jobs j where j.id = m.job) and not exists (select from pgflow.job_archive a where a.id = m.job)
  union all
  -- What was moved to another need since is not looked for at the one that it has left.
  select 'message_place', null, format('message %s is not found by its batch key', m.job)
    from pgflow.job_messages m join pgflow.jobs j on j.id = m.job
   where m.batch_key is not null and (m.need is null or m.need = j.need and (m.priority, m.seq) is distinct from (j.priority, j.seq))
  union all
  select 'message_resources', null, format('message %s holds what is no resource: %s', m.job, m.resources)
    from pgflow.job_messages m
   where m.resources is not null and (jsonb_typeof(m.resources) <> 'object' or exists (
     -- Whatever stands there.
     select from jsonb_each(case when jsonb_typeof(m.resources) = 'object' then m.resources else '{}' end) r
      where case when jsonb_typeof(r.value) = 'number' then r.value < '1' else true end
         or not exists (select from pgflow.permits p where p.kind = 'resource' and p.name = r.key)));
end;
$$;

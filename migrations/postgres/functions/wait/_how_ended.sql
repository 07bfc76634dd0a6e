-- How children ended, and with what. Those that have not, or go on again, are left out.
create or replace function pgflow._how_ended(kinds text[], children text[])
returns table (kind text, child text, ended text, output jsonb, error text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select e.kind, e.child, coalesce(r.status, 'deleted'), case when r.status = 'completed' then coalesce(r.output, 'null') end,
           case r.status when 'cancelled' then r.cancel_reason when 'failed' then (
             select s.error_message from pgflow.step_states s
              where s.run_id = r.run_id and s.status = 'failed' order by s.failed_at desc limit 1) end
      from unnest(kinds, children) e(kind, child)
      left join pgflow.runs r on r.run_id = case when e.child ~ '^[0-9a-f-]{36}$' then e.child::uuid end
     where e.kind = 'run' and r.status is distinct from 'started';
  return query
    select e.kind, e.child, case a.outcome when 'done' then 'completed' else coalesce(a.outcome, 'deleted') end,
           case when a.outcome = 'done' then coalesce(a.output, 'null') end,
           case a.outcome when 'done' then null when 'cancelled' then a.cancel_reason else a.error end
      from unnest(kinds, children) e(kind, child)
      left join pgflow.job_archive a on a.id = e.child
     where e.kind = 'job' and not exists (select from pgflow.jobs j where j.id = e.child);
end;
$$;

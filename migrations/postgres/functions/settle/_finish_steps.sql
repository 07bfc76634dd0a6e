-- What follows from steps that have just completed: their dependents, the end of their runs, the
-- events of it all. The caller holds the runs' locks. Returns the runs in which more was decided
-- than to start steps: some of their messages may have to be archived.
create or replace function pgflow._finish_steps(run_ids uuid[], step_slugs text[]) returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_started record;
  v_completed uuid[];
begin
  select * into v_started from pgflow._pass_on(run_ids, step_slugs);

  with done as (
    select k.run_id, count(*)::int as steps from unnest(run_ids) k(run_id) group by 1
  ), counted as (
    update pgflow.runs r
       set remaining_steps = r.remaining_steps - done.steps,
           status = case when r.remaining_steps = done.steps then 'completed' else r.status end,
           completed_at = case when r.remaining_steps = done.steps then greatest(now(), r.started_at) end,
           -- As in _run_output, without a call per run, unless something is large.
           output = case when r.remaining_steps <> done.steps then null
             when exists (select from pgflow.step_states s where s.run_id = r.run_id and s.output_bytes > pgflow._heavy_bytes())
             then pgflow._run_output(r.run_id, r.flow_slug)
             else (
               select json_object_agg(s.step_slug, s.output)::jsonb
                 from pgflow.step_states s
                where s.run_id = r.run_id and s.status = 'completed'
                  and not exists (
                    select from pgflow.deps e
                      join pgflow.step_states d on d.run_id = r.run_id and d.step_slug = e.step_slug
                     where e.flow_slug = r.flow_slug and e.dep_slug = s.step_slug)
             ) end
      from done
     where r.run_id = done.run_id
    returning r.run_id, r.status
  )
  select array_agg(c.run_id) into v_completed from counted c where c.status = 'completed';

  perform pgflow._record_events(array_agg(e.run_id order by e.kind, e.step_index),
                                array_agg(e.event order by e.kind, e.step_index))
    from (
      select 1 as kind, k.run_id, 'step:completed ' || k.step_slug as event, d.step_index
        from unnest(run_ids, step_slugs) k(run_id, step_slug)
        cross join lateral (select r.flow_slug from pgflow.runs r where r.run_id = k.run_id offset 0) r
        join pgflow.steps d on d.flow_slug = r.flow_slug and d.step_slug = k.step_slug
      union all
      select 2, k.run_id, 'step:started ' || k.step_slug, k.step_index
        from unnest(v_started.run_ids, v_started.step_slugs, v_started.step_indexes) k(run_id, step_slug, step_index)
      union all
      select 3, k.run_id, 'run:completed', 0 from unnest(v_completed) k(run_id)
    ) e;
  if v_started.run_ids is not null then
    perform pgflow._start_steps(v_started.run_ids, v_started.step_slugs);
  end if;
  if v_started.undecided is not null then
    perform pgflow._advance(v_started.undecided);
  end if;
  return v_started.undecided;
end;
$$;

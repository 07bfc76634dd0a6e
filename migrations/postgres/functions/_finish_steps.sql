-- What follows from steps that have just completed: their events, their dependents, the end of
-- their runs. The caller holds the runs' locks. Returns the runs in which more was decided than to
-- start steps: some of their messages may have to be archived.
create or replace function pgflow._finish_steps(run_ids uuid[], step_slugs text[]) returns uuid[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_started record;
  v_completed uuid[];
begin
  perform pgflow._record_events(
    'step:completed', array_agg(s.run_id), array_agg(s.step_slug), array_agg(s.payload)
  )
  from (
    select s.run_id, s.step_slug, jsonb_build_object(
      'step_slug', s.step_slug, 'status', s.status, 'output', s.output, 'completed_at', s.completed_at) as payload
    from unnest(run_ids, step_slugs) k(run_id, step_slug)
    join pgflow.step_states s on s.run_id = k.run_id and s.step_slug = k.step_slug
    join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
    order by s.run_id, d.step_index
  ) s;

  select * into v_started from pgflow._pass_on(run_ids, step_slugs);

  with done as (
    select k.run_id, count(*)::int as steps from unnest(run_ids) k(run_id) group by 1
  ), counted as (
    update pgflow.runs r
       set remaining_steps = r.remaining_steps - done.steps,
           status = case when r.remaining_steps = done.steps then 'completed' else r.status end,
           completed_at = case when r.remaining_steps = done.steps then now() end,
           output = case when r.remaining_steps = done.steps then pgflow._run_output(r.run_id, r.flow_slug) end
      from done
     where r.run_id = done.run_id
    returning r.run_id, r.status
  )
  select array_agg(c.run_id) into v_completed from counted c where c.status = 'completed';

  if v_started.run_ids is not null then
    perform pgflow._start_steps(v_started.run_ids, v_started.step_slugs);
  end if;
  if v_completed is not null then
    perform pgflow._record_run_completed(v_completed);
  end if;
  if v_started.undecided is not null then
    perform pgflow._advance(v_started.undecided);
  end if;
  return v_started.undecided;
end;
$$;

-- What a single step gets: the run's input and the outputs of its completed dependencies.
create or replace function pgflow._step_input(flow_slug text, run_id uuid, step_slug text) returns jsonb
language sql stable
set search_path = ''
set enable_seqscan = off
as $$
  select jsonb_build_object('run', r.input) || coalesce((
      select jsonb_object_agg(p.step_slug, p.output)
        from pgflow.deps e
        join pgflow.step_states p on p.run_id = _step_input.run_id and p.step_slug = e.dep_slug
       where e.flow_slug = _step_input.flow_slug and e.step_slug = _step_input.step_slug
         and p.status = 'completed'
    ), '{}')
    from pgflow.runs r where r.run_id = _step_input.run_id
$$;

-- Refuses outputs that would give a map step after them more tasks than the limit allows.
create or replace function pgflow._check_fanouts(run_ids uuid[], step_slugs text[], outputs jsonb[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pgflow._check_fanout(jsonb_array_length(i.output), format('the output of step %s', i.step_slug))
     from unnest(run_ids, step_slugs, outputs) i(run_id, step_slug, output)
    where jsonb_typeof(i.output) = 'array'
      and exists (
        select from pgflow.runs r
          join pgflow.steps d on d.flow_slug = r.flow_slug and d.step_slug = i.step_slug
          join pgflow.deps e on e.flow_slug = d.flow_slug and e.dep_slug = d.step_slug
          join pgflow.steps m on m.flow_slug = e.flow_slug and m.step_slug = e.step_slug and m.step_type = 'map'
          -- Not one that was added after the run's start.
          join pgflow.step_states s on s.run_id = r.run_id and s.step_slug = m.step_slug
         where r.run_id = i.run_id and d.step_type = 'single' and d.feeds_map
      );
end;
$$;

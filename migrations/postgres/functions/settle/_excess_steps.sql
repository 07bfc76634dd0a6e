-- Those of the steps that have just completed whose outputs are too large: of a map together, or of a leaf with
-- the leaves that were there before it, because a run's output is one JSON value too. In step order, run by run. What a
-- map put out is known; other leaves are measured, and only where a leaf has completed.
create or replace function pgflow._excess_steps(run_ids uuid[], step_slugs text[])
returns table (run_id uuid, step_slug text, error text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_max bigint := (select l.max_output_bytes from pgflow.limits l);
  v_step record;
  v_run uuid;
  v_bytes bigint;
begin
  for v_step in
    with leaf as (
      select s.run_id, s.step_slug, d.step_index, s.output, s.output_bytes,
             (s.run_id, s.step_slug) in (select * from unnest(run_ids, step_slugs)) as is_new,
             -- Single outputs are measured only if there are enough of them to matter.
             bool_or(d.step_type = 'map') over (partition by s.run_id)
               or count(*) over (partition by s.run_id) * (select l.max_payload_bytes from pgflow.limits l)::bigint > v_max
               as is_measured
        from pgflow.step_states s
        join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
       where s.run_id = any (run_ids) and s.status = 'completed' and s.output is not null
         and not exists (
           select from pgflow.deps e join pgflow.step_states n on n.run_id = s.run_id and n.step_slug = e.step_slug
            where e.flow_slug = s.flow_slug and e.dep_slug = s.step_slug)
    ), of_run as (
      select l.*, bool_or(l.is_new) over (partition by l.run_id) as has_new from leaf l
    )
    select l.run_id, l.step_slug, l.step_index, l.is_new, false as is_map,
           coalesce(l.output_bytes, greatest(octet_length(l.output::text), pg_column_size(l.output #> '{}'))) as bytes
      from of_run l
     where l.is_measured and l.has_new
    union all
    select s.run_id, s.step_slug, d.step_index, true, true, null
      from unnest(run_ids, step_slugs) k(run_id, step_slug)
      cross join lateral (select * from pgflow.step_states s where s.run_id = k.run_id and s.step_slug = k.step_slug offset 0) s
      join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
     where s.output is null and d.step_type = 'map'
     order by run_id, is_new, step_index
  loop
    if v_run is distinct from v_step.run_id then
      v_run := v_step.run_id;
      v_bytes := 0;
    end if;
    if v_step.is_map then
      return query select v_step.run_id, v_step.step_slug,
        format('Output too large: the outputs of step %s together have more than %s bytes', v_step.step_slug, v_max);
    elsif v_step.is_new and v_bytes + v_step.bytes > v_max then
      return query select v_step.run_id, v_step.step_slug,
        format('Output too large: with that of step %s the run puts out more than %s bytes', v_step.step_slug, v_max);
    else
      v_bytes := v_bytes + v_step.bytes;
    end if;
  end loop;
end;
$$;

-- Marks steps of one run as skipped, in step order; returns how many it changed.
create or replace function pgflow._skip_steps(
  run_id uuid,
  step_slugs text[],
  skip_reason text,
  error_message text
) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_skipped text[];
  v_has_waits boolean;
begin
  with skipped as (
    update pgflow.step_states s
       set status = 'skipped', skipped_at = greatest(now(), s.created_at), remaining_tasks = null,
           skip_reason = _skip_steps.skip_reason, error_message = _skip_steps.error_message
     where s.run_id = _skip_steps.run_id and s.step_slug = any (_skip_steps.step_slugs)
       and s.status in ('created', 'started')
    returning s.step_slug, s.flow_slug
  )
  select array_agg(k.step_slug order by d.step_index) into v_skipped
    from skipped k join pgflow.steps d on d.flow_slug = k.flow_slug and d.step_slug = k.step_slug;
  if v_skipped is null then
    return 0;
  end if;

  update pgflow.runs r set remaining_steps = r.remaining_steps - cardinality(v_skipped)
   where r.run_id = _skip_steps.run_id
  returning r.has_waits into v_has_waits;
  if v_has_waits then
    perform pgflow._close_waits_of(
      _skip_steps.run_id, v_skipped, format('parent run %s no longer waits for it', _skip_steps.run_id));
  end if;
  perform pgflow._record_events(
    array_fill(_skip_steps.run_id, array[cardinality(v_skipped)]),
    array(select 'step:skipped ' || k from unnest(v_skipped) k),
    array_fill(
      jsonb_build_object('skip_reason', _skip_steps.skip_reason) || case
        when _skip_steps.error_message is not null then jsonb_build_object('error_message', _skip_steps.error_message)
        else jsonb_build_object('flow_slug', (select r.flow_slug from pgflow.runs r where r.run_id = _skip_steps.run_id))
      end,
      array[cardinality(v_skipped)])
  );
  return cardinality(v_skipped);
end;
$$;

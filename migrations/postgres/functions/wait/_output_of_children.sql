-- What a wait puts out whose children have all ended: theirs, in their order.
create or replace function pgflow._output_of_children(wait pgflow.waits) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_outputs jsonb[];
begin
  v_outputs := array(
    select case
        when not wait.outcomes then a.output
        when a.ended = 'completed' then jsonb_build_object('ok', a.output)
        else jsonb_build_object('error', jsonb_build_object('status', a.ended, 'message', coalesce(a.error, ''))) end
      from pgflow.awaited a
     where a.run_id = wait.run_id and a.step_slug = wait.step_slug and a.task_index = wait.task_index and a.attempt = wait.attempt
     order by a.place);
  return case when wait.each then to_jsonb(v_outputs) else v_outputs[1] end;
end;
$$;

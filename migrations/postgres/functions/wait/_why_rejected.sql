-- Why a payload cannot be what a hook waits for, as an object with path and message; null if it can.
create or replace function pgflow._why_rejected(wait pgflow.waits, payload jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_mismatch record;
begin
  if wait.schema is not null then
    select * into v_mismatch from pgflow._mismatch(wait.schema, payload);
    if v_mismatch.path is not null then
      return jsonb_build_object('path', v_mismatch.path, 'message',
                                format('expected %s, found %s', v_mismatch.expected, v_mismatch.got));
    end if;
  end if;
  perform pgflow._check_fanouts(array[wait.run_id], array[wait.step_slug], array[payload]);
  return null;
exception
  when statement_too_complex then
    return jsonb_build_object(
      'path', '', 'message',
      format('expected what takes less than %s comparisons, found %s', pgflow._max_comparisons(), jsonb_typeof(payload)));
  when program_limit_exceeded then
    return jsonb_build_object('path', '', 'message', format('expected what can be stored, found %s', sqlerrm));
end;
$$;

-- A run has ended that waits know, or was deleted: nothing in it waits any more, and whoever waits for it is told, by
-- another transaction.
create or replace function pgflow._run_is_over() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_is_deleted boolean := tg_op = 'DELETE';
begin
  if old.has_waits then
    perform pgflow._close_waits_of(old.run_id, null, format('parent run %s %s', old.run_id, case
      when v_is_deleted then 'no longer waits for it'
      when new.status = 'cancelled' then 'was cancelled' when new.status = 'failed' then 'failed'
      else 'no longer waits for it' end));
    if v_is_deleted then
      delete from pgflow.hooks h where h.run_id = old.run_id;
      delete from pgflow.signals s where s.run_id = old.run_id;
    end if;
  end if;
  if old.is_child and old.status = 'started' then
    perform pgflow._note_end('run', old.run_id::text);
  end if;
  return null;
end;
$$;

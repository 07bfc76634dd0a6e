-- Refuses to start more tasks for a map step than the limit allows.
create or replace function pgflow._check_fanout(task_count int, what text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max int;
begin
  select l.max_fanout into v_max from pgflow.limits l;
  if _check_fanout.task_count > v_max then
    raise exception 'Fan-out too large: % has % elements, the limit is %',
      _check_fanout.what, _check_fanout.task_count, v_max
      using errcode = 'program_limit_exceeded',
            detail = jsonb_build_object('problem', 'too_wide', 'elements', _check_fanout.task_count, 'limit', v_max);
  end if;
end;
$$;

-- Says that these are more runs or jobs than an attempt can wait for, or that they are given too much together; null if not.
create or replace function pgflow._too_many_children(children jsonb) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_many int := jsonb_array_length(children);
  v_bytes bigint;
begin
  if v_many > pgflow._children_at_most() then
    return format('a task can wait for %s runs or jobs at most, not %s', pgflow._children_at_most(), v_many);
  end if;
  v_bytes := (select sum(octet_length(coalesce(c -> 'input', c -> 'payload')::text)) from jsonb_array_elements(children) c);
  if v_bytes > pgflow._child_bytes() then
    return format('the runs or jobs that a task waits for are given %s bytes together, and the limit is %s', v_bytes, pgflow._child_bytes());
  end if;
  return null;
end;
$$;

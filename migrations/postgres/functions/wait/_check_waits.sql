-- Refuses waits that are none, before anything is locked; see wait_tasks.
create or replace function pgflow._check_waits(waits jsonb[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong text;
begin
  select w.wait - 'schema' - 'token' into v_wrong
    from unnest(waits) w(wait)
   where case w.wait ->> 'on'
       when 'hook' then not pgflow._is_token(w.wait ->> 'token')
       when 'sleep' then num_nonnulls(w.wait ->> 'for', w.wait ->> 'at') <> 1
       when 'runs' then jsonb_typeof(w.wait -> 'children') is distinct from 'array'
       when 'jobs' then jsonb_typeof(w.wait -> 'children') is distinct from 'array'
       else true end
      or coalesce((w.wait ->> 'timeout')::bigint < 0, false)
      or (w.wait ->> 'on' in ('runs', 'jobs') and not coalesce((w.wait ->> 'each')::boolean, false)
          and jsonb_array_length(w.wait -> 'children') <> 1)
   limit 1;
  if found then
    raise exception 'This is nothing that a task can wait for: %', coalesce(left(v_wrong, 200), 'null')
      using errcode = 'invalid_parameter_value';
  end if;
end;
$$;

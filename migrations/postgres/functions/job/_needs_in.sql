-- The needs that have jobs in this state: leased, sleeping, or ready with an end to their time. Jumps from one to the next, as
-- _lines_of_key does.
create or replace function pgflow._needs_in(p_state text) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_need text;
  v_from text := '';
  v_needs text[] := '{}';
begin
  loop
    -- A statement for each index.
    if p_state = 'leased' then
      select j.need into v_need from pgflow.jobs j where j.state = 'leased' and j.need >= v_from order by j.need limit 1;
    elsif p_state = 'sleeping' then
      select j.need into v_need from pgflow.jobs j where j.state = 'sleeping' and j.need >= v_from order by j.need limit 1;
    else
      select j.need into v_need from pgflow.jobs j
       where j.state = 'ready' and j.expires_at is not null and j.need >= v_from order by j.need limit 1;
    end if;
    exit when not found;
    v_needs := v_needs || v_need;
    v_from := v_need || chr(1);
  end loop;
  return v_needs;
end;
$$;

-- Why a step cannot read what its children put out, as a sentence; null if it can. That may be much, and nobody can make it smaller: what takes
-- too many comparisons to know is taken as it is.
create or replace function pgflow._why_unread(wait pgflow.waits, output jsonb) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong record;
begin
  if wait.schema is null then
    return null;
  end if;
  select * into v_wrong from pgflow._mismatch(wait.schema, output);
  return format('cannot read what it waited for%s: expected %s, found %s', coalesce(' at ' || nullif(v_wrong.path, ''), ''),
                v_wrong.expected, v_wrong.got)
   where v_wrong.path is not null;
exception when statement_too_complex then
  return null;
end;
$$;

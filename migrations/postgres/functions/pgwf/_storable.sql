-- A moment as it is kept. Past the year 9999 it never comes, and before the first one it has long been: clients can read neither.
create or replace function pgwf._storable(p_moment timestamptz) returns timestamptz
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_moment > timestamptz '9999-12-31 UTC' then 'infinity'
    when p_moment < timestamptz '0001-01-01 UTC' then '0001-01-01 UTC'
    else p_moment end;
end;
$$;

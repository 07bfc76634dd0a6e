-- A moment that was said in JSON: as text, or as microseconds since 1970.
create or replace function pgflow._moment(p_moment jsonb) returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case jsonb_typeof(p_moment)
    when 'number' then timestamptz 'epoch' + p_moment::bigint * interval '1 microsecond'
    else (p_moment #>> '{}')::timestamptz end;
end;
$$;

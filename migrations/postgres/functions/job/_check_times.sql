-- Refuses moments and spans that no clock will show. Spans are milliseconds.
create or replace function pgflow._check_times(p_moments timestamptz[], p_spans bigint[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong text;
begin
  select coalesce(
    (select m::text from unnest(p_moments) m where not isfinite(m) or m > timestamptz '9999-12-31 UTC' limit 1),
    (select s || ' ms' from unnest(p_spans) s where s not between 0 and 3155760000000 limit 1)) into v_wrong;
  if v_wrong is not null then
    raise exception '% is no time for a job', v_wrong
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'bad_time', 'time', v_wrong);
  end if;
end;
$$;

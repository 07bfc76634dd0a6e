-- Refuses a claim that asks for nothing: no worker, no needs, no time or no jobs.
create or replace function pgflow._check_claim(p_worker text, p_needs text[], p_seconds double precision, p_qty int) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong text := case
    when p_worker is null then 'a worker'
    when coalesce(cardinality(p_needs), 0) = 0 then 'needs'
    when coalesce(p_seconds, 0) <= 0 or p_seconds > 3155760000 then 'seconds'
    when coalesce(p_qty, 0) <= 0 then 'jobs' end;
begin
  if v_wrong is not null then
    raise exception 'A claim says for whom, of which needs, how long and how many: % missing', v_wrong
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'bad_claim', 'missing', v_wrong);
  end if;
end;
$$;

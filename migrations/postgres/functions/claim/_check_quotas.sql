-- Refuses quotas of steps whose arrays do not belong together.
create or replace function pgflow._check_quotas(limited_flows text[], limited_steps text[], limited_quotas int[])
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if (cardinality(limited_flows), cardinality(limited_flows))
     is distinct from (cardinality(limited_steps), cardinality(limited_quotas)) then
    raise exception 'Arrays must have one length: % limited_flows, % limited_steps, % limited_quotas',
      cardinality(limited_flows), cardinality(limited_steps), cardinality(limited_quotas)
      using errcode = 'array_subscript_error';
  end if;
end;
$$;

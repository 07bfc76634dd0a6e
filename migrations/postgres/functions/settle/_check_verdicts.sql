-- Refuses verdicts on failures that do not belong to as many items, or that cannot be.
create or replace function pgflow._check_verdicts(items int, delays int[], fatal boolean[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(delays) <> items or cardinality(fatal) <> items then
    raise exception 'Arrays must have one length: % run_ids, % delays, % fatal',
      items, coalesce(cardinality(delays), items), coalesce(cardinality(fatal), items)
      using errcode = 'array_subscript_error';
  end if;
  if 0 > any (delays) then
    raise exception 'A delay must not be negative: %', (select min(d) from unnest(delays) d)
      using errcode = 'invalid_parameter_value';
  end if;
end;
$$;

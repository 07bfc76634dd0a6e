-- Sets how many units there are of a resource, from the next claim on. Who holds more keeps it. A resource that is not there is made.
create or replace function pgflow.set_capacity(slug text, capacity int) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  perform pgflow._check_slug(slug, 'resource');
  if coalesce(capacity, 0) < 1 then
    raise exception 'The capacity of resource % must be at least 1, not %', slug, coalesce(capacity::text, 'null')
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'no_capacity', 'resource', slug);
  end if;
  insert into pgflow.permits as p (kind, name, state) values ('resource', slug, jsonb_build_object('capacity', capacity, 'fence', 0))
  on conflict (kind, name) do update
    set state = p.state || jsonb_build_object('capacity', excluded.state -> 'capacity'),
        lowered = p.lowered or (excluded.state -> 'capacity') < (p.state -> 'capacity');
end;
$$;

-- Gives a flow these options and defaults for the rest, also for its runs in flight: create_flow
-- leaves a flow that is there as it is.
create or replace function pgflow.set_flow_options(
  flow_slug text,
  max_attempts int default null,
  base_delay int default null,
  timeout int default null
) returns pgflow.flows
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_flow pgflow.flows;
begin
  perform pgflow._lock_flow(set_flow_options.flow_slug, true);
  update pgflow.flows f
     set opt_max_attempts = coalesce(set_flow_options.max_attempts, 3),
         opt_base_delay = coalesce(set_flow_options.base_delay, 5),
         opt_timeout = coalesce(set_flow_options.timeout, 60)
   where f.flow_slug = set_flow_options.flow_slug
  returning f.* into v_flow;
  if not found then
    raise exception 'There is no flow "%"', set_flow_options.flow_slug using errcode = 'no_data_found';
  end if;
  return v_flow;
end;
$$;

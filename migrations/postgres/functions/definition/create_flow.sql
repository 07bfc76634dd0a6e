-- Defines a flow and its queue, or returns the one there is, unchanged.
create or replace function pgflow.create_flow(
  flow_slug text,
  max_attempts int default null,
  base_delay int default null,
  timeout int default null
) returns pgflow.flows
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_twin text;
  v_flow pgflow.flows;
begin
  -- pgmq cuts names at 47 bytes and folds their case: two flows must not end up in one queue.
  if octet_length(create_flow.flow_slug) > 47 and pgflow.is_valid_slug(create_flow.flow_slug) then
    raise exception 'Flow slug "%" is too long: % bytes, at most 47 fit a queue name',
      create_flow.flow_slug, octet_length(create_flow.flow_slug)
      using errcode = 'name_too_long';
  end if;
  -- Serialises creators whose slugs differ in case only, which no unique index can see.
  perform pg_advisory_xact_lock(2, hashtext(lower(create_flow.flow_slug)));
  select f.flow_slug into v_twin from pgflow.flows f
   where lower(f.flow_slug) = lower(create_flow.flow_slug) and f.flow_slug <> create_flow.flow_slug;
  if found then
    raise exception 'Flow slug "%" differs from the existing flow "%" in case only, and would share its queue',
      create_flow.flow_slug, v_twin
      using errcode = 'unique_violation';
  end if;

  insert into pgflow.flows (flow_slug, opt_max_attempts, opt_base_delay, opt_timeout)
  values (
    create_flow.flow_slug,
    coalesce(create_flow.max_attempts, 3),
    coalesce(create_flow.base_delay, 5),
    coalesce(create_flow.timeout, 60)
  )
  on conflict on constraint flows_pkey do nothing;

  perform pgflow._create_queue(create_flow.flow_slug);
  select * into v_flow from pgflow.flows f where f.flow_slug = create_flow.flow_slug;
  return v_flow;
end;
$$;

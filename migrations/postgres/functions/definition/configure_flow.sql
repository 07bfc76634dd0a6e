-- Sets what create_flow has no parameter for; null leaves a setting as it is.
create or replace function pgflow.configure_flow(
  flow_slug text,
  record_events boolean default null,
  retry_jitter real default null
) returns pgflow.flows
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_flow pgflow.flows;
begin
  perform pgflow._lock_flow(configure_flow.flow_slug, true);
  update pgflow.flows f
     set record_events = coalesce(configure_flow.record_events, f.record_events),
         retry_jitter = coalesce(configure_flow.retry_jitter, f.retry_jitter)
   where f.flow_slug = configure_flow.flow_slug
  returning f.* into v_flow;
  if not found then
    raise exception 'There is no flow "%"', configure_flow.flow_slug using errcode = 'no_data_found';
  end if;
  return v_flow;
end;
$$;

-- Removes a flow, its queue and everything that ever ran on it.
create or replace function pgflow.delete_flow_and_data(p_flow_slug text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- As in create_flow: who creates it again waits here, and holds nothing yet.
  perform pg_advisory_xact_lock(2, hashtext(lower(p_flow_slug)));
  -- A queue of that name may belong to somebody else.
  if not exists (select from pgflow.flows f where f.flow_slug = p_flow_slug) then
    return;
  end if;
  perform pgflow._seize_flow(p_flow_slug);
  perform pgmq.drop_queue(p_flow_slug);
  delete from pgflow.event_log e using pgflow.runs r
   where r.flow_slug = p_flow_slug and e.run_id = r.run_id;
  delete from pgflow.step_tasks t using pgflow.runs r
   where r.flow_slug = p_flow_slug and t.run_id = r.run_id;
  delete from pgflow.step_states s using pgflow.runs r
   where r.flow_slug = p_flow_slug and s.run_id = r.run_id;
  perform pgflow._delete_streams(array(
    select s.id from pgflow.runs r join pgflow.streams s on s.run_id = r.run_id where r.flow_slug = p_flow_slug));
  delete from pgflow.runs where flow_slug = p_flow_slug;
  delete from pgflow.deps where flow_slug = p_flow_slug;
  delete from pgflow.steps where flow_slug = p_flow_slug;
  delete from pgflow.flow_versions where flow_slug = p_flow_slug;
  delete from pgflow.flows where flow_slug = p_flow_slug;
end;
$$;

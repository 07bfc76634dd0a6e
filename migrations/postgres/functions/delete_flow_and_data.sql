-- Removes a flow, its queue and everything that ever ran on it.
create or replace function pgflow.delete_flow_and_data(p_flow_slug text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Everything is locked in the order of complete_tasks, the flow before it (a start holds it) and the
  -- queue after it (a settle wants it last), so that those at work finish and nobody waits in a circle.
  perform from pgflow.flows f where f.flow_slug = p_flow_slug for update;
  perform from pgflow.runs r join pgflow.step_states s on s.run_id = r.run_id
    where r.flow_slug = p_flow_slug order by s.run_id, s.step_slug for update of s;
  perform from pgflow.runs r where r.flow_slug = p_flow_slug order by r.run_id for update;
  perform from pgflow.runs r join pgflow.step_tasks t on t.run_id = r.run_id
    where r.flow_slug = p_flow_slug order by t.run_id, t.step_slug, t.task_index for update of t;
  perform pgmq.drop_queue(p_flow_slug);

  delete from pgflow.event_log e using pgflow.runs r
   where r.flow_slug = p_flow_slug and e.run_id = r.run_id;
  delete from pgflow.step_tasks t using pgflow.runs r
   where r.flow_slug = p_flow_slug and t.run_id = r.run_id;
  delete from pgflow.step_states s using pgflow.runs r
   where r.flow_slug = p_flow_slug and s.run_id = r.run_id;
  delete from pgflow.runs where flow_slug = p_flow_slug;
  delete from pgflow.deps where flow_slug = p_flow_slug;
  delete from pgflow.steps where flow_slug = p_flow_slug;
  delete from pgflow.flows where flow_slug = p_flow_slug;
end;
$$;

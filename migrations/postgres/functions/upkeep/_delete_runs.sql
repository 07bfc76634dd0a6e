-- Deletes ended runs with everything of theirs, and says how much that was.
create or replace function pgflow._delete_runs(
  run_ids uuid[],
  out step_states bigint,
  out step_tasks bigint,
  out events bigint,
  out messages bigint
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_queue record;
begin
  messages := 0;
  for v_queue in
    select t.flow_slug, array_agg(t.message_id order by t.message_id) as ids
      from pgflow.step_tasks t
     where t.run_id = any (run_ids) and t.message_id is not null
     group by t.flow_slug order by t.flow_slug
  loop
    messages := messages + (select count(*) from pgmq.delete(v_queue.flow_slug, v_queue.ids));
  end loop;
  select coalesce(sum(cardinality(e.events)), 0) into events from pgflow.event_log e where e.run_id = any (run_ids);
  delete from pgflow.event_log e where e.run_id = any (run_ids);
  delete from pgflow.step_tasks t where t.run_id = any (run_ids);
  get diagnostics step_tasks = row_count;
  delete from pgflow.step_states s where s.run_id = any (run_ids);
  get diagnostics step_states = row_count;
  perform pgflow._delete_streams(array(select s.id from pgflow.streams s where s.run_id = any (run_ids)));
  delete from pgflow.runs r where r.run_id = any (run_ids);
end;
$$;

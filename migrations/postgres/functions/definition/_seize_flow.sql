-- Locks a flow and everything of it, all at once or not at all, again and again: those at work take these
-- locks in an order that a whole flow cannot keep, and who never waits for one while holding another is
-- in no cycle. Only the flow's own row is waited for, because starts hold it, and first; it is let go
-- with the rest, because the second update of a run in a transaction makes its foreign key ask for it.
create or replace function pgflow._seize_flow(flow_slug text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_table text;
begin
  for attempt in 1 .. 1000 loop
    begin
      perform from pgflow.flows f where f.flow_slug = _seize_flow.flow_slug for update;
      -- From here on claims and sweeps pass over its queue: see _use_queue.
      foreach v_table in array array['q', 'a'] loop
        v_table := format('pgmq.%I', pgmq.format_table_name(_seize_flow.flow_slug, v_table));
        if to_regclass(v_table) is not null then
          execute format('lock table %s in access exclusive mode nowait', v_table);
        end if;
      end loop;
      perform from pgflow.runs r where r.flow_slug = _seize_flow.flow_slug for update nowait;
      perform from pgflow.runs r join pgflow.step_states s on s.run_id = r.run_id
        where r.flow_slug = _seize_flow.flow_slug for update of s nowait;
      perform from pgflow.runs r join pgflow.step_tasks t on t.run_id = r.run_id
        where r.flow_slug = _seize_flow.flow_slug for update of t nowait;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.01);
    end;
  end loop;
  raise exception 'Flow % is busy: stop its workers first', _seize_flow.flow_slug
    using errcode = 'lock_not_available';
end;
$$;

-- Lets the tasks of a run that was just started wait for so much longer. Those of wide maps wait like all others.
create or replace function pgflow._delay_run(flow_slug text, run_id uuid, delay interval) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  execute format(
    'update pgmq.%I q set vt = greatest(q.vt, clock_timestamp()) + $2
       from (select t.message_id from pgflow.step_tasks t where t.run_id = $1 order by 1) t
      where q.msg_id = t.message_id',
    pgmq.format_table_name(_delay_run.flow_slug, 'q')
  ) using _delay_run.run_id, _delay_run.delay;
end;
$$;

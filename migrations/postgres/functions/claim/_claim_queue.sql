-- Takes tasks of one queue. If none of the messages that it reads can be started, as when all are of lost workers, it reads on:
-- tasks behind them are not kept waiting.
create or replace function pgflow._claim_queue(
  queue_name text,
  reservation int,
  qty int,
  worker_id uuid,
  limited_steps text[],
  limited_quotas int[]
) returns setof pgflow.step_task_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_got record;
begin
  -- What started nothing is hidden for a while, so that each round sees others.
  for v_round in 1..32 loop
    select * into v_got from pgflow._read_and_start(
      _claim_queue.queue_name, _claim_queue.reservation, _claim_queue.qty, _claim_queue.worker_id, limited_steps, limited_quotas);
    exit when not v_got.has_read or cardinality(v_got.tasks) > 0;
  end loop;
  return query select t.* from unnest(v_got.tasks) t;
end;
$$;

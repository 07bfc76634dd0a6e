-- Takes tasks of one queue. If none of the messages that it reads can be started, as when all are of lost workers, it reads on:
-- tasks behind them are not kept waiting.
--
-- Of several queues a claim takes no more bytes than of one: `taken` is what it has already, `bytes` what it is given here (null where
-- nobody had to measure), and `is_full` that something is left because it did not fit.
create or replace function pgflow._claim_queue(
  queue_name text,
  reservation int,
  qty int,
  worker_id uuid,
  limited_steps text[],
  limited_quotas int[],
  taken bigint,
  out tasks pgflow.step_task_record[],
  out bytes bigint,
  out is_full boolean
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_got record;
begin
  -- What started nothing is hidden for a while, so that each round sees others.
  for v_round in 1..32 loop
    select * into v_got from pgflow._read_and_start(
      _claim_queue.queue_name, _claim_queue.reservation, _claim_queue.qty, _claim_queue.worker_id, limited_steps, limited_quotas,
      _claim_queue.taken);
    exit when not v_got.has_read or v_got.is_full or cardinality(v_got.tasks) > 0;
  end loop;
  tasks := v_got.tasks;
  bytes := v_got.bytes;
  is_full := v_got.is_full;
end;
$$;

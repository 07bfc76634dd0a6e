-- As _claim_queue, for one of several queues: what is wrong with this one must not keep the others from being claimed.
create or replace function pgflow._claim_among(
  queue_name text,
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
begin
  select * into tasks, bytes, is_full from pgflow._claim_queue(
    _claim_among.queue_name, 5, _claim_among.qty, _claim_among.worker_id, limited_steps, limited_quotas, _claim_among.taken);
exception
  -- About the worker, not about the queue.
  when foreign_key_violation then
    raise;
  when data_exception or integrity_constraint_violation or syntax_error_or_access_rule_violation
    or program_limit_exceeded or out_of_memory or raise_exception then
    raise warning 'queue % cannot be claimed: %', _claim_among.queue_name, sqlerrm;
end;
$$;

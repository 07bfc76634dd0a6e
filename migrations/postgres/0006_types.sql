-- What a worker gets for a task it may run now.

create type pgflow.step_task_record as (
  flow_slug text,
  run_id uuid,
  step_slug text,
  input jsonb,
  msg_id bigint,
  task_index int,
  -- Given back when the task is settled: a result of an older attempt changes nothing.
  attempt int,
  -- Seconds until the task counts as lost, if no heartbeat comes.
  timeout int
);

-- How long a task of a step waits, in seconds; null waits for ever.
alter table pgflow.steps
  add column opt_wait_timeout int,
  add constraint opt_wait_timeout_is_positive check (opt_wait_timeout is null or opt_wait_timeout > 0);

-- Functions that get one more parameter.
drop function if exists pgflow.add_step(text, text, text[], int, int, int, int, text, jsonb, jsonb, text, text);
drop function if exists pgflow.set_step_options(text, text, int, int, int, int);

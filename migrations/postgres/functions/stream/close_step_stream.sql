-- Ends what an attempt writes to the stream of its task: with an error, or without.
create or replace function pgflow.close_step_stream(
  run_id uuid, step_slug text, task_index int, attempt int, error_message text default null, out outcome text, out error text
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_problem text := pgflow._hold_owner(run_id, step_slug, task_index, attempt);
begin
  select c.outcome, c.error into outcome, error
    from pgflow._close_stream(
      close_step_stream.run_id, close_step_stream.step_slug, close_step_stream.task_index, close_step_stream.attempt, v_problem,
      close_step_stream.error_message, null) c;
end;
$$;

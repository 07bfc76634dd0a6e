-- Appends chunks to the stream of a task, as an attempt that has it. `first_seq` is the attempt's own number of the first of them.
create or replace function pgflow.append_step_chunks(
  run_id uuid, step_slug text, task_index int, attempt int, first_seq bigint, chunks bytea[],
  out outcome text, out number bigint, out appended bigint, out error text
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_problem text;
begin
  perform pgflow._check_chunks(append_step_chunks.chunks);
  v_problem := pgflow._hold_owner(run_id, step_slug, task_index, attempt);
  select a.outcome, a.number, a.appended, a.error into outcome, number, appended, error
    from pgflow._append_chunks(
      append_step_chunks.run_id, append_step_chunks.step_slug, append_step_chunks.task_index, append_step_chunks.attempt, v_problem,
      append_step_chunks.attempt::text, append_step_chunks.first_seq, append_step_chunks.chunks, null) a;
end;
$$;

-- Ends a stream, which need not be there yet; an attempt ends its generation. `problem` is what keeps an attempt from writing.
-- Outcome: closed; ended, if it had ended before, with what was said then; or the problem.
create or replace function pgflow._close_stream(
  p_run uuid, p_name text, p_index int, p_attempt int, p_problem text, p_error text, p_lasts interval, out outcome text, out error text
)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  v_stream pgflow.streams;
begin
  if p_problem is not null then
    outcome := p_problem;
    return;
  end if;
  loop
    select s.* into v_stream from pgflow.streams s
     where s.run_id = p_run and s.name = p_name and s.task_index = p_index for update;
    exit when found;
    insert into pgflow.streams (run_id, name, task_index, expires_at)
    values (p_run, p_name, p_index, clock_timestamp() + p_lasts)
    on conflict do nothing;
  end loop;
  if v_stream.has_ended and v_stream.generation >= coalesce(p_attempt, 0) then
    outcome := 'ended';
    error := v_stream.error;
    return;
  end if;
  update pgflow.streams s
     set has_ended = true, error = left(p_error, pgflow._max_error_length()), expires_at = clock_timestamp() + p_lasts,
         generation = greatest(s.generation, p_attempt),
         begins_at = case when s.generation < p_attempt then s.next_number else s.begins_at end
   where s.id = v_stream.id;
  outcome := 'closed';
end;
$$;

-- Streams of a run by step and index, or without one those of their own, by name, after this one.
create or replace function pgflow.list_streams(run_id uuid default null, after text default null, max_streams int default 1000)
returns table (
  name text, task_index int, chunks bigint, bytes bigint, generation int, has_ended boolean, error text, expires_at timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
begin
  return query
    select s.name, s.task_index, s.next_number, s.bytes, s.generation, s.has_ended, s.error, s.expires_at
      from pgflow.streams s
     where s.run_id = coalesce(list_streams.run_id, pgflow._no_run())
       and s.name > case when list_streams.run_id is null then coalesce(list_streams.after, '') else '' end
     order by s.name, s.task_index limit list_streams.max_streams;
end;
$$;

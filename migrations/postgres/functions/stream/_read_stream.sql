-- Chunks of a stream from a number on, of which none begins more than so many bytes after the first; one row without a chunk if
-- there is none. Numbers are dense, so that a range of them is a limit.
create or replace function pgflow._read_stream(p_run uuid, p_name text, p_index int, p_from bigint, p_chunks int, p_bytes int)
returns table (
  number bigint, generation int, data bytea, next_number bigint, newest_generation int, begins_at bigint, has_ended boolean, error text,
  stream bigint
)
language plpgsql stable
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
    select c.number, c.generation, c.data, coalesce(s.next_number, 0), coalesce(s.generation, 0), coalesce(s.begins_at, 0),
           coalesce(s.has_ended, false), s.error, s.id
      from (values (1)) one
      left join pgflow.streams s on s.run_id = p_run and s.name = p_name and s.task_index = p_index
      left join lateral (
        select c.number, c.generation, c.data from pgflow.stream_chunks c
         where c.stream = s.id and c.number >= p_from and c.number - p_from < p_chunks
           and (c.number = p_from or c.starts_at < p_bytes + (
                 select b.starts_at from pgflow.stream_chunks b where b.stream = s.id and b.number = p_from))
      ) c on true
     order by c.number;
end;
$$;

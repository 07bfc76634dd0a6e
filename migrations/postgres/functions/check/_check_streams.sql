-- Streams: their numbers are dense, their counters equal a recount, and they belong to something.
create or replace function pgflow._check_streams() returns table (invariant text, run_id uuid, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  -- Planned once per session: this is called often where there are no streams.
  return query
  select 'stream_chunks', s.run_id, format('stream %s has %s chunks up to number %s with %s bytes, but says %s with %s',
                                           s.name, c.chunks, c.last, c.bytes, s.next_number, s.bytes)
    from pgflow.streams s
    cross join lateral (
      select count(*) as chunks, min(c.number) as first, max(c.number) as last, coalesce(sum(octet_length(c.data)), 0) as bytes
        from pgflow.stream_chunks c where c.stream = s.id
    ) c
   where c.chunks <> s.next_number or c.first <> 0 or coalesce(c.last + 1, 0) <> s.next_number or c.bytes <> s.bytes
  union all
  select 'stream_generations', s.run_id, format('chunk %s of stream %s is of generation %s', c.number, s.name, c.generation)
    from pgflow.streams s
    join pgflow.stream_chunks c on c.stream = s.id
   where (c.number >= s.begins_at) <> (c.generation = s.generation) or c.generation > s.generation
      or c.generation < least(s.generation, 1)
  union all
  select 'stream_offsets', s.run_id, format('chunk %s of stream %s does not begin where the one before it ends', c.number, s.name)
    from pgflow.streams s
    join (
      select c.stream, c.number, c.starts_at,
             coalesce(sum(octet_length(c.data)) over (
               partition by c.stream order by c.number rows between unbounded preceding and 1 preceding), 0) as before
        from pgflow.stream_chunks c
    ) c on c.stream = s.id and c.starts_at <> c.before
  union all
  select 'stream_writers', s.run_id, format('the writers of stream %s have not sent %s chunks', s.name, s.next_number)
    from pgflow.streams s
   where s.next_number <> (select coalesce(sum(w.next_seq), 0) from pgflow.stream_writers w where w.stream = s.id)
  union all
  select 'stream_owner', s.run_id, format('stream %s of attempt %s is of a task that is not there, or had no such attempt', s.name, s.generation)
    from pgflow.streams s
   where not case when s.run_id = pgflow._no_run() then s.task_index = 0 and s.generation = 0
     else exists (
       select from pgflow.step_tasks t
        where t.run_id = s.run_id and t.step_slug = s.name and t.task_index = s.task_index and s.generation between 1 and t.attempts_count) end
  union all
  select 'stream_lost', null, format('chunk %s is of no stream', c.number)
    from pgflow.stream_chunks c
   where not exists (select from pgflow.streams s where s.id = c.stream)
  union all
  select 'stream_writer_lost', null, format('writer %s is of no stream', w.writer)
    from pgflow.stream_writers w
   where not exists (select from pgflow.streams s where s.id = w.stream);
end;
$$;

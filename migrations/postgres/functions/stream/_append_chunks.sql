-- Appends chunks to a stream, which need not be there yet. Numbers are given under the lock of its row, so that they are dense and
-- whoever sees one can see all before it. `problem` is what keeps an attempt from writing.
--   outcome   appended; gap, if chunks of the writer before these are missing; ended; or the problem
--   number    of the first new chunk; for a gap, what the writer has to send
--   appended  how many were new: those that the writer has sent before are there
create or replace function pgflow._append_chunks(
  p_run uuid, p_name text, p_index int, p_attempt int, p_problem text, p_writer text, p_first bigint, p_chunks bytea[], p_lasts interval,
  out outcome text, out number bigint, out appended bigint, out error text
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
  v_written bigint := 0;
  v_chunks bytea[] := p_chunks;
begin
  if coalesce(p_first, -1) < 0 then
    raise exception 'A writer numbers its chunks from 0' using errcode = 'invalid_parameter_value';
  end if;
  appended := 0;
  loop
    select s.* into v_stream from pgflow.streams s
     where s.run_id = p_run and s.name = p_name and s.task_index = p_index for update;
    exit when found or p_first > 0 or cardinality(p_chunks) = 0 or p_problem is not null;
    -- If another transaction makes it at the same time, this one waits here, and finds it then.
    insert into pgflow.streams (run_id, name, task_index, expires_at)
    values (p_run, p_name, p_index, clock_timestamp() + p_lasts)
    on conflict do nothing;
  end loop;
  v_written := coalesce(
    (select w.next_seq from pgflow.stream_writers w where w.stream = v_stream.id and w.writer = p_writer), 0);
  if p_first > v_written then
    outcome := 'gap';
    number := v_written;
    return;
  end if;
  v_chunks := p_chunks[least(v_written - p_first, cardinality(p_chunks))::int + 1 :];
  if cardinality(v_chunks) = 0 then
    outcome := 'appended';
    return;
  end if;
  if p_problem is not null then
    outcome := p_problem;
    return;
  end if;
  if v_stream.generation < p_attempt then
    v_stream.generation := p_attempt;
    v_stream.begins_at := v_stream.next_number;
    v_stream.has_ended := false;
  end if;
  if v_stream.has_ended then
    outcome := 'ended';
    error := v_stream.error;
    return;
  end if;
  insert into pgflow.stream_chunks (stream, number, starts_at, generation, data)
  select v_stream.id, v_stream.next_number + c.n - 1,
         v_stream.bytes + sum(octet_length(c.data)) over (order by c.n) - octet_length(c.data), v_stream.generation, c.data
    from unnest(v_chunks) with ordinality c(data, n);
  insert into pgflow.stream_writers (stream, writer, next_seq)
  values (v_stream.id, p_writer, v_written + cardinality(v_chunks))
  on conflict (stream, writer) do update set next_seq = excluded.next_seq;
  outcome := 'appended';
  number := v_stream.next_number;
  appended := cardinality(v_chunks);
  update pgflow.streams s
     set generation = v_stream.generation, begins_at = v_stream.begins_at, has_ended = false, error = null,
         next_number = s.next_number + appended, bytes = s.bytes + (select sum(octet_length(c)) from unnest(v_chunks) c),
         expires_at = clock_timestamp() + p_lasts
   where s.id = v_stream.id;
end;
$$;

-- Appends chunks to the stream of this name. A writer numbers its own chunks 0, 1, 2 …; `first_seq` is the number of the first of
-- these, and what it has sent before is not appended again. The stream is kept for so long from now on, or a week. Nobody is notified in this
-- transaction: readers look again within a second.
create or replace function pgflow.append_chunks(
  name text, writer text, first_seq bigint, chunks bytea[], lasts interval default null,
  out outcome text, out number bigint, out appended bigint, out error text
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
begin
  perform pgflow._check_stream_name(append_chunks.name, 'stream');
  perform pgflow._check_stream_name(append_chunks.writer, 'writer');
  perform pgflow._check_chunks(append_chunks.chunks);
  select a.outcome, a.number, a.appended, a.error into outcome, number, appended, error
    from pgflow._append_chunks(
      pgflow._no_run(), append_chunks.name, 0, null, null, append_chunks.writer, append_chunks.first_seq, append_chunks.chunks,
      coalesce(append_chunks.lasts, pgflow._stream_lasts())) a;
end;
$$;

-- Ends the stream of this name: with an error, or without. Ending it twice changes nothing.
create or replace function pgflow.close_stream(
  name text, error_message text default null, lasts interval default null, out outcome text, out error text
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
begin
  perform pgflow._check_stream_name(close_stream.name, 'stream');
  select c.outcome, c.error into outcome, error
    from pgflow._close_stream(
      pgflow._no_run(), close_stream.name, 0, null, null, close_stream.error_message,
      coalesce(close_stream.lasts, pgflow._stream_lasts())) c;
end;
$$;

-- Deletes streams with all that was said in them.
create or replace function pgflow._delete_streams(ids bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from pgflow.stream_chunks c where c.stream = any (ids);
  delete from pgflow.stream_writers w where w.stream = any (ids);
  delete from pgflow.streams s where s.id = any (ids);
end;
$$;

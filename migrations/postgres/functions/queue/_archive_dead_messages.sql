-- Archives the messages of tasks that will never run, in runs that have just changed.
create or replace function pgflow._archive_dead_messages(run_ids uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform pgflow._archive_messages(array_agg(m.flow_slug), array_agg(m.message_id))
    from pgflow._dead_messages(run_ids) m;
end;
$$;

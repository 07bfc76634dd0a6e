-- As others know it: everything at once, and no counts. Installations that bring a function of this very
-- signature along replace it.
create or replace function pgflow.prune_data_older_than(retention_interval interval) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  select pgflow.prune_data_older_than(prune_data_older_than.retention_interval, null)
$$;

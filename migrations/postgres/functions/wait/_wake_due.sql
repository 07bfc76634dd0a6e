-- Lets waits of these flows go on whose moment has come: for a claim, which waits for nobody. What somebody holds is left to the
-- next one. Returns whether there were any.
create or replace function pgflow._wake_due(flow_slugs text[]) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
      select from pgflow.waits w where w.until <= clock_timestamp() and w.flow_slug = any (_wake_due.flow_slugs))
    and pgflow._wake_unless_held(_wake_due.flow_slugs);
end;
$$;

-- Locks runs, and notes that the tables of waits know them: what ends or deletes one of them looks there.
create or replace function pgflow._mark_waiting(run_ids uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from pgflow.runs r where r.run_id = any (run_ids) order by r.run_id for no key update;
  update pgflow.runs r set has_waits = true where r.run_id = any (run_ids) and r.has_waits is null;
end;
$$;

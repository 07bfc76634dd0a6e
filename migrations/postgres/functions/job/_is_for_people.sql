-- Whether people have to look at a job whose leases ran out too often in a row. Not if it is a message of a pipeline with a budget: that is
-- dead when its budget is spent.
create or replace function pgflow._is_for_people(p_need text, p_max_attempts int) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_max_attempts is null or not exists (
    select from pgflow.permits p where p.kind = 'stage' and p.name = p_need and p.state -> 'of_queue' = 'true');
end;
$$;

-- Whether a lease holds, and its job is not to be cancelled: what is said with it takes effect.
create or replace function pgflow.holds_job(id text, token text) returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from pgflow.jobs j where j.id = holds_job.id and j.token::text = holds_job.token and j.cancel_at is null);
end;
$$;

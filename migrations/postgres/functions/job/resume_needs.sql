-- Lets jobs of these needs be leased again: see pause_needs. Returns how many were paused.
create or replace function pgflow.resume_needs(needs text[]) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_resumed int;
begin
  delete from pgflow.paused_needs p where p.need = any (resume_needs.needs);
  get diagnostics v_resumed = row_count;
  return v_resumed;
end;
$$;

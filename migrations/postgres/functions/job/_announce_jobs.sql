-- Tells listeners of pgwf's channels which jobs can be leased now, if that is switched on. A need that is too long
-- for the name of a channel is found by polling.
create or replace function pgflow._announce_jobs(p_ids text[], p_needs text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(p_ids) > 0 and (select s.notify from pgflow.job_settings s) then
    perform pg_notify('pgwf.need.' || i.need, i.id)
       from unnest(p_ids, p_needs) i(id, need)
      where octet_length(i.need) <= 53 and octet_length(i.id) < 8000;
  end if;
end;
$$;

-- Notes what jobs need that can be leased now, for whoever called: it tells others once the transaction is over, because a NOTIFY
-- would hold a lock on the whole database until the commit. Tells listeners of pgwf's channels itself, if that is switched on. A need
-- that is too long for the name of a channel is found by polling.
create or replace function pgflow._announce_jobs(p_ids text[], p_needs text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(p_ids) > 0 then
    -- What has expired is never leased.
    select array_agg(i.id), array_agg(i.need) into p_ids, p_needs
      from unnest(p_ids, p_needs) i(id, need)
     where coalesce((select j.expires_at from pgflow.jobs j where j.id = i.id) > clock_timestamp(), true);
  end if;
  if cardinality(p_ids) > 0 then
    -- More than it takes to say "look at everything" are no use.
    perform set_config('pgflow.ready_needs', array(
      select distinct n from unnest(nullif(current_setting('pgflow.ready_needs', true), '')::text[] || p_needs) n limit 65)::text, true);
    if (select s.notify from pgflow.job_settings s) then
      perform pg_notify('pgwf.need.' || i.need, i.id)
         from unnest(p_ids, p_needs) i(id, need)
        where octet_length(i.need) <= 53 and octet_length(i.id) < 8000;
    end if;
  end if;
end;
$$;

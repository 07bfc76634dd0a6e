-- Makes rows for those of these keys that have none, unless somebody else is about to: it waits no longer than a moment, and makes
-- none then.
create or replace function pgflow._add_keys_at_once(p_keys text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '1ms'
as $$
begin
  insert into pgflow.job_keys (key, jobs)
  select distinct i.key, 0
    from unnest(p_keys) i(key)
   where (select true from pgflow.job_keys k where k.key = i.key) is null
   order by 1 on conflict do nothing;
exception when lock_not_available then
  null;
end;
$$;

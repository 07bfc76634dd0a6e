-- Locks tokens that somebody chose, before anything else is locked: between a signal and the wait that it is for, nobody comes
-- in. Those that were announced need no lock of their own; the run that they belong to is locked.
create or replace function pgflow._lock_tokens(tokens text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key int;
begin
  for v_key in
    select distinct hashtext(t) from unnest(tokens) t where not starts_with(t, 'hk_') order by 1
  loop
    perform pg_advisory_xact_lock(3, v_key);
  end loop;
end;
$$;

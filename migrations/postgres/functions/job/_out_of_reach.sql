-- Of jobs whose leases have run out, those that somebody else holds. A claim may have taken them, for as long as its transaction lasts:
-- who had the lease has lost it, and does not wait. The others are locked.
create or replace function pgflow._out_of_reach(p_lapsed text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_locked text[] := array(select j.id from pgflow.jobs j where j.id = any (p_lapsed) order by j.id for no key update skip locked);
begin
  return array(select i from unnest(p_lapsed) i except select l from unnest(v_locked) l);
end;
$$;

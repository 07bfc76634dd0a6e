-- Parks the ready jobs of a key that somebody has; the caller has locked its row. Returns whether one of them was locked.
create or replace function pgflow._park_heads(p_key text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update pgflow.jobs j set state = 'parked'
   where j.ctid = any (array(
     select h.ctid from pgflow.jobs h where h.key = p_key and h.state = 'ready' for no key update skip locked));
  return exists (select from pgflow.jobs h where h.key = p_key and h.state = 'ready');
end;
$$;

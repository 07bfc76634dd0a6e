-- The needs of which a key has jobs in line. Jumps from one to the next, however many are parked.
create or replace function pgflow._lines_of_key(p_key text) returns setof text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_need text;
begin
  loop
    select p.need into v_need from pgflow.jobs p
     where p.key = p_key and p.state = 'parked' and p.need > coalesce(v_need, '')
     order by p.need limit 1;
    exit when not found;
    return next v_need;
  end loop;
end;
$$;

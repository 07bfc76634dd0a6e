-- The needs of which a key has jobs in line. Jumps from one to the next, which is
-- the name with the lowest character behind it or comes after that, however many are parked. A need of pgwf may be empty.
create or replace function pgflow._lines_of_key(p_key text) returns setof text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_need text;
begin
  loop
    select p.need into v_need from pgflow.jobs p
     where p.key = p_key and p.state = 'parked' and p.need >= coalesce(v_need || chr(1), '')
     order by p.need limit 1;
    exit when not found;
    return next v_need;
  end loop;
end;
$$;

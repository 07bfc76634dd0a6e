-- Puts those of these jobs whose moment has come back in line; leaves them to the sweep, if their time is over. Waits for nobody.
-- Returns how many.
create or replace function pgflow._wake_sleepers(p_now timestamptz, p_ids text[]) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids text[] := array(
    select j.id from pgflow.jobs j
     where j.id = any (array(
       select i from unnest(p_ids) i where (select o.state = 'sleeping' and o.wake_at <= p_now from pgflow.jobs o where o.id = i)))
     order by j.id for no key update skip locked);
  v_keys text[];
  v_woken int;
begin
  with woken as (
    update pgflow.jobs j
       set state = case when j.expires_at <= p_now then 'expired' when j.key is null then 'ready' else 'parked' end
      from unnest(v_ids) i(id)
      cross join lateral (select o.ctid as place, o.state, o.wake_at from pgflow.jobs o where o.id = i.id offset 0) o
     where j.ctid = o.place and o.state = 'sleeping' and o.wake_at <= p_now
    returning j.key
  )
  select array_agg(w.key) filter (where w.key is not null), count(*) into v_keys, v_woken from woken w;
  perform pgflow._line_up(v_keys, array_fill(0, array[coalesce(cardinality(v_keys), 0)]), false);
  return v_woken;
end;
$$;

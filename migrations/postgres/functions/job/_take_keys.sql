-- Takes keys for ready jobs that the caller has locked: of each key that is free and that nobody else is about to take, for
-- the best of them. The others of such a key are parked. Returns the jobs that got their key.
create or replace function pgflow._take_keys(p_ids text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_locked text[];
  v_won text[];
  v_keys text[];
begin
  -- By name, and waiting for nobody: a claim that finds a key locked leaves it.
  v_locked := array(
    select k.key from pgflow.job_keys k
     where k.key = any (array(select j.key from pgflow.jobs j where j.id = any (p_ids)))
     order by k.key for update skip locked);
  select array_agg(b.id), array_agg(b.key) into v_won, v_keys
    from (
      select distinct on (j.key) j.id, j.key
        from pgflow.jobs j join pgflow.job_keys k on k.key = j.key and k.holder is null
       where j.id = any (p_ids) and j.key = any (v_locked)
       order by j.key, j.priority desc, j.seq
    ) b;
  -- What is ready of a key that somebody has was left so by a decision that met a lock.
  update pgflow.jobs j set state = 'parked'
   where j.ctid = any (array(
     select h.place from unnest(v_locked) l(key)
      cross join lateral (
        select h.ctid as place from pgflow.jobs h
         where h.key = l.key and h.state = 'ready' and h.id <> all (coalesce(v_won, '{}')) for no key update skip locked) h));
  update pgflow.job_keys k
     set holder = coalesce(w.id, k.holder),
         look = exists (select from pgflow.jobs h where h.key = k.key and h.state = 'ready' and h.id is distinct from w.id)
    from (
      select l.key, w.id from unnest(v_locked) l(key) left join unnest(v_won, v_keys) w(id, key) on w.key = l.key
    ) w
   where k.key = w.key;
  return coalesce(v_won, '{}');
end;
$$;

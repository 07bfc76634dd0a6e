-- Counts jobs in and out of the lines of their keys, and decides who is the head of each. The last thing that a
-- transition does: keys are locked by name, after all jobs. It waits for nobody who has a key: that the line has changed is noted for
-- whoever has the key next. It may wait for somebody who makes the row of the same key; not with `wait` false, nor if the transaction
-- has keys already.
create or replace function pgflow._line_up(p_keys text[], p_deltas int[], p_wait boolean default true) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_locked text[];
  v_left text[];
begin
  if coalesce(cardinality(p_keys), 0) = 0 then
    return;
  end if;
  p_wait := p_wait and coalesce(current_setting('pgflow.holds_keys', true) <> 'on', true);
  if not p_wait then
    perform pgflow._add_keys_at_once(p_keys);
  end if;
  v_locked := array(select k.key from pgflow.job_keys k where k.key = any (p_keys) order by k.key for update skip locked);
  v_left := array(
    (select k.key from pgflow.job_keys k where k.key = any (p_keys) union select i from unnest(p_keys) i where not p_wait)
    except select l from unnest(v_locked) l);
  if v_left <> '{}' then
    insert into pgflow.job_key_notes (key, jobs)
    select i.key, sum(i.delta) from unnest(p_keys, p_deltas) i(key, delta) where i.key = any (v_left) group by 1;
  end if;
  insert into pgflow.job_keys (key, jobs)
  select i.key, sum(i.delta) from unnest(p_keys, p_deltas) i(key, delta) where i.key <> all (v_left) group by 1 order by 1
  on conflict (key) do update set jobs = job_keys.jobs + excluded.jobs;
  perform set_config('pgflow.holds_keys', 'on', true);
  perform pgflow._pick_heads(array(select i from unnest(p_keys) i where i <> all (v_left)));
end;
$$;

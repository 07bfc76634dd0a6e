-- Puts up to `limit` jobs whose moment has come back in line. Waits for nobody. Returns how many.
create or replace function pgflow._wake_sleepers(p_now timestamptz, p_limit int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids text[];
  v_keys text[];
  v_locked text[];
  v_woken int;
begin
  select array_agg(s.id), array_agg(s.key) filter (where s.key is not null) into v_ids, v_keys
    from (
      select j.id, j.key from pgflow.jobs j
       where j.state = 'sleeping' and j.wake_at <= p_now
       order by j.wake_at limit p_limit for no key update skip locked
    ) s;
  v_locked := array(select k.key from pgflow.job_keys k where k.key = any (v_keys) order by k.key for update skip locked);
  update pgflow.jobs j set state = case when j.key is null then 'ready' else 'parked' end
   where j.id = any (v_ids) and (j.key is null or j.key = any (v_locked));
  get diagnostics v_woken = row_count;
  perform pgflow._pick_heads(v_locked);
  return v_woken;
end;
$$;

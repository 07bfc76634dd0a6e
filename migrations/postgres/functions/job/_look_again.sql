-- Decides who is the head of up to `limit` keys whose last decision met a locked job, or that somebody else had when they changed: of those
-- that have a job of `needs` in line, if there are any. Waits for nobody.
create or replace function pgflow._look_again(p_limit int, p_needs text[] default null) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys text[] := array(
    select u.key
      -- So many at most, of whatever needs: a claim can afford that, and the sweep sees the others.
      from ((select k.key from pgflow.job_keys k where k.look limit 1000) union (select n.key from pgflow.job_key_notes n limit 1000)) u
     where p_needs is null or exists (
       select from pgflow.jobs p where p.key = u.key and p.state = 'parked' and p.need = any (p_needs) offset 0)
     order by u.key limit p_limit);
begin
  perform pgflow._add_keys_at_once(v_keys);
  perform pgflow._pick_heads(array(
    select k.key from pgflow.job_keys k where k.key = any (v_keys) order by k.key for update skip locked));
end;
$$;

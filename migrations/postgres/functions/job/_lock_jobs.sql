-- Locks jobs that may end, and all that their end may concern, and `others`. In one pass by id, so that transactions which do this
-- cannot wait for each other in a ring. Waiters that come in between are found, and locked, when the edges are read again.
--
-- A second pass of a transaction would not be in order. It waits for the jobs themselves and for `others` only; if somebody holds one of
-- those that wait for them, the next claim or sweep tells it, see _waiters_of.
create or replace function pgflow._lock_jobs(p_ids text[], p_kind text default 'job', p_others text[] default '{}') returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_concerned text[] := pgflow._concerned_jobs(p_ids, p_kind) || p_others;
begin
  if current_setting('pgflow.holds_jobs', true) = 'on' and not pgflow._lock_jobs_at_once(v_concerned) then
    v_concerned := case when p_kind = 'job' then p_ids else '{}' end || p_others;
  end if;
  perform from pgflow.jobs j where j.id = any (v_concerned) order by j.id for update;
  perform set_config('pgflow.holds_jobs', 'on', true);
end;
$$;

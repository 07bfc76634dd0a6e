-- Locks the jobs of a batch that these tokens open, and returns the positions that are really held. With `may_end` also
-- what their end may concern; otherwise only for those that are to be cancelled, which end whatever is said of them.
-- A null token opens nothing; of two items for one job the first counts.
create or replace function pgflow._held_jobs(p_ids text[], p_tokens text[], p_may_end boolean default true) returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Looked at without a lock first: who lost its lease waits for nobody.
  v_opened text[] := array(
    select i.id from unnest(p_ids, p_tokens) i(id, token)
     where (select j.token::text from pgflow.jobs j where j.id = i.id) = i.token);
  v_cancelled text[];
begin
  if p_may_end then
    perform pgflow._lock_jobs(v_opened);
  else
    perform from pgflow.jobs j where j.id = any (v_opened) order by j.id for no key update;
    v_cancelled := array(select j.id from pgflow.jobs j where j.id = any (v_opened) and j.cancel_at is not null);
    if v_cancelled <> '{}' then
      perform pgflow._lock_jobs(v_cancelled);
    end if;
  end if;
  return array(
    select min(i.n)::int from unnest(p_ids, p_tokens) with ordinality i(id, token, n)
     where (select j.token::text from pgflow.jobs j where j.id = i.id) = i.token
     group by i.id order by 1);
end;
$$;

-- Locks the jobs of a batch that these tokens open, and returns the positions that are really held. With `may_end` also
-- what their end may concern; otherwise only for those that are to be cancelled, which end whatever is said of them.
-- A null token opens nothing; of two items for one job the first counts.
create or replace function pgflow._held_jobs(p_ids text[], p_tokens text[], p_may_end boolean default true) returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_opened text[];
  v_lapsed text[];
  v_lost text[] := '{}';
  v_cancelled text[];
begin
  -- Looked at without a lock first: who lost its lease waits for nobody.
  select array_agg(i.id), array_agg(i.id) filter (where j.lease_until <= clock_timestamp()) into v_opened, v_lapsed
    from unnest(p_ids, p_tokens) i(id, token)
    cross join lateral (select o.token, o.lease_until from pgflow.jobs o where o.id = i.id offset 0) j
   where j.token::text = i.token;
  if v_lapsed is not null then
    -- Locks of these alone, before those of all the others, would be out of order: they are not kept.
    begin
      v_lost := pgflow._out_of_reach(v_lapsed);
      raise sqlstate 'PGF01';
    exception when sqlstate 'PGF01' then
      null;
    end;
    v_opened := array(select o from unnest(v_opened) o where o <> all (v_lost));
  end if;
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
     where i.id <> all (v_lost) and (select j.token::text from pgflow.jobs j where j.id = i.id) = i.token
     group by i.id order by 1);
end;
$$;

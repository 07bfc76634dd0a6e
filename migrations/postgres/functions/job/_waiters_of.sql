-- Who waits for jobs or runs that have ended, locked. Most are locked already, in order; who came since is locked if that
-- takes no waiting, because to wait out of order may be to wait for ever. What is left over is remembered for the next claim or sweep; so is
-- everything in a transaction that is stricter than read committed, which does not see who came after it began.
create or replace function pgflow._waiters_of(p_kind text, p_ids text[], p_outcomes text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_strict boolean := current_setting('transaction_isolation') <> 'read committed';
  v_all text[] := array(
    select distinct e.waiter from unnest(p_ids) i(id)
     cross join lateral (select e.waiter from pgflow.job_edges e where e.dependency = i.id and e.kind = p_kind offset 0) e);
  v_locked text[];
begin
  v_locked := case when v_all = '{}' then '{}' else array(
    select j.id from pgflow.jobs j where j.id = any (v_all) order by j.id for no key update skip locked) end;
  if v_strict or cardinality(v_locked) < cardinality(v_all) then
    insert into pgflow.job_wakes (kind, dependency, outcome)
    select distinct p_kind, i.id, i.outcome from unnest(p_ids, p_outcomes) i(id, outcome)
     where v_strict or exists (
       select from pgflow.job_edges e where e.dependency = i.id and e.kind = p_kind and e.waiter <> all (v_locked))
    on conflict do nothing;
  end if;
  return v_locked;
end;
$$;

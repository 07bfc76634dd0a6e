-- Writes permits. A key of a fair queue never goes back; how far a queue is only grows, and is left alone while somebody else moves it.
create or replace function pgflow.note_permits(kinds text[], names text[], states jsonb[]) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  insert into pgflow.permits as p (kind, name, state)
  select i.kind, i.name, i.state from unnest(kinds, names, states) i(kind, name, state)
   where i.kind <> 'round' order by 1, 2
  on conflict (kind, name) do update
    set state = case when excluded.kind = 'turn' then greatest(p.state, excluded.state) else excluded.state end,
        lowered = excluded.kind = 'resource' and (
          (excluded.state -> 'capacity') < (p.state -> 'capacity')
          or (p.lowered and (excluded.state -> 'fence') = (p.state -> 'fence')));
  if 'round' = any (kinds) then
    insert into pgflow.permits (kind, name, state)
    select i.kind, i.name, i.state from unnest(kinds, names, states) i(kind, name, state)
     where i.kind = 'round' and not exists (select from pgflow.permits p where p.kind = i.kind and p.name = i.name)
     order by 2
    on conflict do nothing;
    update pgflow.permits p set state = f.state
      from (
        select p.ctid as place, i.state
          from unnest(kinds, names, states) i(kind, name, state)
          join pgflow.permits p on p.kind = i.kind and p.name = i.name
         where i.kind = 'round' and p.state < i.state
           for no key update of p skip locked
      ) f
     where p.ctid = f.place;
  end if;
end;
$$;

-- Leased jobs of whatever need whose leases have run out, and behind whose keys jobs of these needs are in line: each with the place of the
-- best of those. Among the thousand that ran out first: a claim can afford that, and the sweep sees the others.
create or replace function pgflow._lapsed_holders(p_now timestamptz, p_needs text[]) returns table (id text, priority int, seq bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select h.id, b.priority, b.seq
      from (
        -- In this order, so that the index of just these is taken.
        select j.id, j.key from pgflow.jobs j
         where j.state = 'leased' and j.key is not null and j.look_at <= p_now and j.lease_until <= p_now
         order by j.look_at limit 1000
      ) h
      cross join lateral (
        select l.priority, l.seq
          from unnest(p_needs) n(need)
          cross join lateral (
            select p.priority, p.seq from pgflow.jobs p
             where p.key = h.key and p.need = n.need and p.state = 'parked' order by p.priority desc, p.seq limit 1
          ) l
         order by l.priority desc, l.seq limit 1
      ) b;
end;
$$;

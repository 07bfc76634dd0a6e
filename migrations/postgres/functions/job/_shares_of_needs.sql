-- How many of the best `limit` ready jobs each need has: what a claim for several needs may lock of each. With `any_order`
-- each may have all: for when the best are held by others.
create or replace function pgflow._shares_of_needs(p_needs text[], p_limit int, p_any_order boolean)
returns table (need text, share int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(p_needs) = 1 or p_any_order then
    return query select distinct n, p_limit from unnest(p_needs) n where n is not null;
    return;
  end if;
  return query
    select b.need, count(*)::int
      from (
        select n.need, j.priority, j.seq
          from (select distinct i as need from unnest(p_needs) i where i is not null) n
          cross join lateral (
            select j.priority, j.seq from pgflow.jobs j
             where j.state = 'ready' and j.need = n.need order by j.priority desc, j.seq limit p_limit
          ) j
         order by j.priority desc, j.seq limit p_limit
      ) b group by 1;
end;
$$;

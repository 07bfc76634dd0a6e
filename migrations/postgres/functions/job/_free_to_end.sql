-- Up to `limit` jobs that are due to end and that nobody holds, the first in line first; see _end_due.
create or replace function pgflow._free_to_end(p_now timestamptz, p_limit int, p_states text[], p_needs text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids text[];
begin
  -- Locks in this order would be wrong to keep.
  begin
    v_ids := array(select d.id from (
      select * from (
        select j.id, j.seq from pgflow.jobs j
         where j.state in ('expired', 'crashed', 'cancelled') and j.state = any (p_states) and (p_needs is null or j.need = any (p_needs))
         order by j.seq limit p_limit for update skip locked) marked
      union all
      select * from (
        select j.id, j.seq from pgflow.jobs j
         where j.expires_at <= p_now and j.state in ('sleeping', 'waiting', 'parked', 'concern') and 'expired' = any (p_states)
         order by j.expires_at limit p_limit for update skip locked) expired
      union all
      select r.id, r.seq
        from unnest(case when 'expired' = any (p_states) then pgflow._needs_in('ready') end) n(need)
        cross join lateral (
          select j.id, j.seq from pgflow.jobs j
           where j.state = 'ready' and j.need = n.need and j.expires_at <= p_now
           order by j.expires_at limit p_limit for update skip locked) r
      union all
      select l.id, l.seq
        from unnest(coalesce(p_needs, pgflow._needs_in('leased'))) n(need)
        cross join lateral (
          select j.id, j.seq from pgflow.jobs j
           where j.state = 'leased' and j.need = n.need and j.look_at <= p_now and j.lease_until <= p_now
             and case when j.cancel_at is not null then 'cancelled' when j.attempts - j.forgiven >= j.max_attempts then 'crashed' end = any (p_states)
           order by j.look_at limit p_limit for update skip locked) l
      ) d order by d.seq limit p_limit);
    raise sqlstate 'PGF01';
  exception when sqlstate 'PGF01' then
    null;
  end;
  return v_ids;
end;
$$;

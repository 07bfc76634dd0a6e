-- Looks at up to `look` messages of a queue that became visible between two moments, oldest first,
-- and locks up to `qty` of them within the quotas; `taken` are those the caller has already.
-- Returns them with their steps, how many messages were seen, and the moment of the last.
create or replace function pgflow._pick_among(
  queue_name text,
  qty int,
  visible_from timestamptz,
  visible_until timestamptz,
  look int,
  limited_steps text[],
  quotas int[],
  taken bigint[],
  out ids bigint[],
  out steps text[],
  out seen int,
  out until timestamptz
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Messages are looked at without a lock and locked step by step, the steps with the oldest
  -- first: a message past its step's quota stays free for others.
  execute format(
    'with seen as materialized (
       select m.msg_id, m.vt, m.message ->> ''step_slug'' as step
         from pgmq.%1$I m where m.vt between $1 and $2 order by m.vt limit $3
     ), quota as materialized (
       select l.step, greatest(min(l.quota), 0) as quota from unnest($4, $5) l(step, quota) group by 1
     ), class as materialized (
       select l.step as limited, coalesce(l.quota, $6) as quota, array_agg(s.msg_id) as ids
         from seen s left join quota l on l.step = s.step
        where s.msg_id <> all ($7) group by 1, 2 order by min(s.vt)
     ), picked as (
       select p.msg_id, c.limited
         from class c
         cross join lateral (
           select m.msg_id from pgmq.%1$I m
            where m.msg_id = any (c.ids) and m.vt <= $2
            order by m.vt limit c.quota for update skip locked
         ) p
        limit $6)
     select array_agg(p.msg_id), array_agg(p.limited),
            (select count(*)::int from seen), (select max(s.vt) from seen s)
       from picked p',
    pgmq.format_table_name(_pick_among.queue_name, 'q')
  ) into ids, steps, seen, until
    using visible_from, visible_until, look, limited_steps, quotas, greatest(qty, 0), taken;
end;
$$;

-- Definitions: numbers that repeat what other rows say, the order of steps, queues, limits.
create or replace function pgflow._check_definitions() returns table (invariant text, run_id uuid, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'definition_deps', null::uuid,
         format('deps_count of %s.%s is %s, but it has %s', s.flow_slug, s.step_slug, s.deps_count, there.deps)
    from pgflow.steps s
    cross join lateral (
      select count(*) as deps from pgflow.deps e where e.flow_slug = s.flow_slug and e.step_slug = s.step_slug
    ) there
   where s.deps_count <> there.deps or (s.step_type = 'map' and there.deps > 1)
  union all
  select 'definition_order', null, format('the steps of %s are not numbered 0 to %s', s.flow_slug, count(*) - 1)
    from pgflow.steps s group by s.flow_slug
  having min(s.step_index) <> 0 or max(s.step_index) <> count(*) - 1
  union all
  select 'definition_order', null, format('%s.%s comes before %s, on which it depends', s.flow_slug, s.step_slug, p.step_slug)
    from pgflow.deps e
    join pgflow.steps s on s.flow_slug = e.flow_slug and s.step_slug = e.step_slug
    join pgflow.steps p on p.flow_slug = e.flow_slug and p.step_slug = e.dep_slug
   where p.step_index >= s.step_index
  union all
  select 'definition_feeds_map', null, format('feeds_map of %s.%s is %s', s.flow_slug, s.step_slug, s.feeds_map)
    from pgflow.steps s
   where s.feeds_map <> exists (
     select from pgflow.deps e
       join pgflow.steps m on m.flow_slug = e.flow_slug and m.step_slug = e.step_slug and m.step_type = 'map'
      where e.flow_slug = s.flow_slug and e.dep_slug = s.step_slug)
  union all
  select 'definition_queue', null, format('flow %s has no queue', f.flow_slug)
    from pgflow.flows f
   where not exists (
     select from pg_class c
      where c.relnamespace = 'pgmq'::regnamespace and c.relname = pgmq.format_table_name(f.flow_slug, 'q'))
  union all
  select 'definition_limits', null, 'there are no limits'
   where not exists (select from pgflow.limits)
$$;

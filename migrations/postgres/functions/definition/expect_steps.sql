-- Fails unless a flow has exactly these steps, and these of them are maps. Definitions leave what is
-- there as it is, so two programs that mean different flows by one name would else share one that
-- neither of them knows. A migration says this after it has defined a flow.
create or replace function pgflow.expect_steps(flow_slug text, step_slugs text[], map_slugs text[] default '{}')
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_strange text[];
  v_missing text[];
begin
  select array_agg(s.step_slug order by s.step_index) into v_strange
    from pgflow.steps s
   where s.flow_slug = expect_steps.flow_slug
     and (s.step_slug <> all (coalesce(expect_steps.step_slugs, '{}'))
          or (s.step_type = 'map') <> (s.step_slug = any (coalesce(expect_steps.map_slugs, '{}'))));
  if v_strange is not null then
    raise exception 'Flow "%" is there already, and is another one: it has "%"',
      expect_steps.flow_slug, array_to_string(v_strange, '", "')
      using errcode = 'unique_violation',
            hint = 'Two programs in one database use one name for different flows: give one of them another slug.';
  end if;
  v_missing := array(
    select k.step_slug from unnest(expect_steps.step_slugs) with ordinality k(step_slug, n)
     where not exists (
       select from pgflow.steps s where s.flow_slug = expect_steps.flow_slug and s.step_slug = k.step_slug)
     order by k.n
  );
  if v_missing <> '{}' or not exists (select from pgflow.flows f where f.flow_slug = expect_steps.flow_slug) then
    raise exception 'Flow "%" is not there as expected: it lacks "%"',
      expect_steps.flow_slug, array_to_string(v_missing, '", "')
      using errcode = 'no_data_found', hint = 'Apply all migrations of the flow, in their order.';
  end if;
end;
$$;

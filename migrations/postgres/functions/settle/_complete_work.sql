-- Stores results and moves their runs on, under locks that the caller has taken. Returns the items
-- (by position) that took effect, and the messages that are over and that the caller archives.
create or replace function pgflow._complete_work(
  p_run_ids uuid[],
  p_step_slugs text[],
  p_task_indexes int[],
  p_outputs jsonb[],
  p_attempts int[],
  p_feeds_map boolean,
  out items int[],
  out flow_slugs text[],
  out message_ids bigint[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_applied record;
  v_ended record;
  v_undecided uuid[];
begin
  if p_feeds_map then
    if exists (select from pgflow._type_violations(p_run_ids, p_step_slugs, p_outputs)) then
      select * into items, flow_slugs, message_ids
        from pgflow._complete_one_by_one(p_run_ids, p_step_slugs, p_task_indexes, p_outputs, p_attempts);
      return;
    end if;
    perform pgflow._check_fanouts(p_run_ids, p_step_slugs, p_outputs);
  end if;

  select * into v_applied
    from pgflow._complete_task_rows(p_run_ids, p_step_slugs, p_task_indexes, p_outputs, p_attempts);
  items := v_applied.items;
  flow_slugs := v_applied.flow_slugs;
  message_ids := v_applied.message_ids;
  if items is not null then
    select * into v_ended from pgflow._count_down_steps(v_applied.run_ids, v_applied.step_slugs, 1);
    if v_ended.may_exceed then
      v_undecided := pgflow._finish_fitting(v_ended.run_ids, v_ended.step_slugs);
    elsif v_ended.run_ids is not null then
      v_undecided := pgflow._finish_steps(v_ended.run_ids, v_ended.step_slugs);
    end if;
  end if;

  if v_undecided is not null or cardinality(p_run_ids) > coalesce(cardinality(items), 0) then
    select flow_slugs || array_agg(m.flow_slug), message_ids || array_agg(m.message_id)
      into flow_slugs, message_ids
      from (
        select * from pgflow._dead_messages(v_undecided)
        union all
        select * from pgflow._late_messages(p_run_ids, p_step_slugs, p_task_indexes, p_attempts)
      ) m;
  end if;
end;
$$;

-- As _finish_steps, where some of the steps may put out more than is allowed: those end like steps out of
-- attempts, after the others. Their tasks stay completed.
create or replace function pgflow._finish_fitting(run_ids uuid[], step_slugs text[]) returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_excess record;
  v_fitting record;
  v_step record;
  v_undecided uuid[];
begin
  select array_agg(e.run_id) as run_ids, array_agg(e.step_slug) as step_slugs, array_agg(e.error) as errors
    into v_excess from pgflow._excess_steps(run_ids, step_slugs) e;
  update pgflow.step_states s set status = 'started', completed_at = null, output = null, output_bytes = null
    from unnest(v_excess.run_ids, v_excess.step_slugs) k(run_id, step_slug)
   where s.run_id = k.run_id and s.step_slug = k.step_slug;
  select array_agg(k.run_id) as run_ids, array_agg(k.step_slug) as step_slugs into v_fitting
    from (select * from unnest(run_ids, step_slugs) except select * from unnest(v_excess.run_ids, v_excess.step_slugs))
      k(run_id, step_slug);
  if v_fitting.run_ids is not null then
    v_undecided := pgflow._finish_steps(v_fitting.run_ids, v_fitting.step_slugs);
  end if;
  for v_step in
    select e.* from unnest(v_excess.run_ids, v_excess.step_slugs, v_excess.errors) e(run_id, step_slug, error)
  loop
    -- Unless the one before it has ended the run.
    if exists (select from pgflow.runs r where r.run_id = v_step.run_id and r.status = 'started') then
      perform pgflow._exhaust_step(v_step.run_id, v_step.step_slug, v_step.error);
      v_undecided := v_undecided || v_step.run_id;
    end if;
  end loop;
  return v_undecided;
end;
$$;

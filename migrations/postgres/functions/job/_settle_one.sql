-- Settles one job that the caller has locked, as settle_job's `ending` says, and returns what became of it.
create or replace function pgflow._settle_one(p_id text, p_token text, p_ending jsonb, p_worker text) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_edges record;
  v_frees boolean := coalesce((p_ending ->> 'frees_key')::boolean, false);
  v_key text;
begin
  if p_ending ->> 'verdict' = 'handed_over' and jsonb_array_length(coalesce(p_ending -> 'after', '[]')) > 0 then
    select array_agg(1 order by n) as jobs, array_agg(w ->> 'kind' order by n) as kinds, array_agg(w ->> 'id' order by n) as dependencies,
           array_agg(w ->> 'policy' order by n) as policies
      into v_edges from jsonb_array_elements(p_ending -> 'after') with ordinality w(w, n);
    if v_frees then
      update pgflow.jobs j set key = null from pgflow.jobs o where j.id = p_id and o.id = j.id returning o.key into v_key;
      perform pgflow._line_up(array_remove(array[v_key], null), array[-1]);
    end if;
    return (
      select r.outcome from pgflow.reschedule_jobs(
        array[p_id], array[p_token], array[p_ending ->> 'need'], array[p_ending -> 'payload'],
        array[pgflow._moment(p_ending -> 'wake_at')], array[(p_ending ->> 'delay')::bigint], array[(p_ending ->> 'max_attempts')::int],
        v_edges.jobs, v_edges.kinds, v_edges.dependencies, v_edges.policies, p_worker) r);
  end if;
  return (
    select s.outcome from pgflow.settle_jobs(
      array[p_id], array[p_token], array[p_ending ->> 'verdict'], array[p_ending -> 'payload'], array[p_ending ->> 'error'],
      array[(p_ending ->> 'delay')::bigint], array[p_ending ->> 'need'], array[pgflow._moment(p_ending -> 'wake_at')],
      array[(p_ending ->> 'max_attempts')::int], p_worker, array[v_frees]) s);
end;
$$;

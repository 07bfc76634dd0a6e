-- Logs what became of waits of tasks; the caller holds their runs.
create or replace function pgflow._log_waits(
  run_ids uuid[], step_slugs text[], task_indexes int[], words text[], details jsonb[] default null
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pgflow._record_events(
    array_agg(e.run_id order by e.n), array_agg(e.word || ' ' || e.step_slug order by e.n),
    array_agg(jsonb_build_object('task_index', e.task_index) || coalesce(e.detail, '{}') order by e.n))
     from unnest(run_ids, step_slugs, task_indexes, words, details) with ordinality e(run_id, step_slug, task_index, word, detail, n);
end;
$$;

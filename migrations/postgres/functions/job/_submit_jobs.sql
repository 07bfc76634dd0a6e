-- Inserts jobs, with what they wait for; see submit_jobs, which checks what it is given. Returns the positions that were
-- inserted: an id that is live or archived is not. With `alone` an id that somebody else submits right now fails: who has made the ids,
-- or submits one job and has such an error of its own, saves a subtransaction.
create or replace function pgflow._submit_jobs(
  p_ids text[],
  p_needs text[],
  p_payloads jsonb[],
  p_priorities int[],
  p_keys text[],
  p_wake_ats timestamptz[],
  p_expires_ats timestamptz[],
  p_max_attempts int[],
  p_edge_jobs int[],
  p_kinds text[],
  p_dependencies text[],
  p_policies text[],
  p_worker text,
  p_details jsonb[] default null,
  p_now timestamptz default clock_timestamp(),
  p_alone boolean default false
) returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_traced boolean;
  v_notify boolean;
  v_ends text[];
  v_waiters text[];
  v_inserted int[];
  v_all boolean;
  v_is_new boolean[];
  v_position int;
  v_keys text[];
  v_deltas int[];
begin
  select s.trace, s.notify into v_traced, v_notify from pgflow.job_settings s;
  if cardinality(p_edge_jobs) > 0 then
    v_ends := pgflow._lock_dependencies(p_kinds, p_dependencies, null, p_ids, p_edge_jobs);
    -- A job that is there is not submitted, whatever it would wait for.
    perform pgflow._refuse_unknown(array_agg(e.id order by e.n), array_agg(e.ends order by e.n))
       from unnest(p_dependencies, v_ends, p_edge_jobs) with ordinality e(id, ends, job, n)
      where not (e.ends = 'unknown' and (
        array_position(p_ids, p_ids[e.job]) < e.job
        or (select true from pgflow.jobs j where j.id = p_ids[e.job])
        or (select true from pgflow.job_archive a where a.id = p_ids[e.job])) is true);
  end if;
  if p_alone then
    v_inserted := pgflow._insert_jobs(
      p_now, p_ids, p_needs, p_payloads, p_priorities, p_keys, p_wake_ats, p_expires_ats, p_max_attempts, v_traced, p_worker, p_details);
  else
    v_inserted := pgflow._insert_jobs_again(
      p_now, p_ids, p_needs, p_payloads, p_priorities, p_keys, p_wake_ats, p_expires_ats, p_max_attempts, v_traced, p_worker, p_details);
  end if;
  if v_inserted = '{}' then
    return v_inserted;
  end if;
  -- A name is not used twice, also if it was archived after this statement's predecessor began.
  if exists (select from pgflow.job_archive a where a.id = any (p_ids)) then
    v_inserted := pgflow._withdraw_archived(p_ids, array(
      select d.id from unnest(p_kinds, p_dependencies, v_ends) d(kind, id, ends) where d.kind = 'job' and d.ends is null), v_inserted);
  end if;
  v_all := cardinality(v_inserted) = cardinality(p_ids);
  if not v_all then
    v_is_new := array_fill(false, array[cardinality(p_ids)]);
    foreach v_position in array v_inserted loop
      v_is_new[v_position] := true;
    end loop;
  end if;

  if v_ends is not null then
    v_waiters := array(
      select case when v_all or v_is_new[e.job] then p_ids[e.job] end
        from unnest(p_edge_jobs) with ordinality e(job, n) order by e.n);
    update pgflow.jobs j set waits = e.waits, state = 'waiting'
      from pgflow._add_edges(v_waiters, p_kinds, p_dependencies, p_policies, v_ends) e
     where j.id = e.waiter;
  end if;
  if p_keys is not null then
    v_keys := array(
      select k.key from unnest(p_keys) with ordinality k(key, n) where k.key is not null and (v_all or v_is_new[k.n]));
    v_deltas := array_fill(1, array[cardinality(v_keys)]);
  end if;
  if v_ends is not null then
    perform pgflow._pass_on_ends(v_waiters, p_dependencies, p_policies, v_ends, p_worker, v_keys, v_deltas);
  elsif v_keys <> '{}' then
    perform pgflow._line_up(v_keys, v_deltas);
  end if;
  if v_notify then
    perform pgflow._announce_jobs(array_agg(j.id), array_agg(j.need))
       from unnest(v_inserted) n join pgflow.jobs j on j.id = p_ids[n] and j.state = 'ready' and j.key is null;
  end if;
  return v_inserted;
end;
$$;

-- Inserts jobs, with what they wait for; see submit_jobs, which checks what it is given. Returns the positions that were
-- inserted: an id that is live or archived is not.
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
  p_details jsonb[] default null
) returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ends text[];
  v_waiters text[];
  v_inserted text[];
  v_archived text[];
  v_all boolean;
  v_deltas int[];
  v_done record;
begin
  if cardinality(p_edge_jobs) > 0 then
    v_ends := pgflow._lock_dependencies(p_kinds, p_dependencies, null, p_ids, p_edge_jobs);
    -- A job that is there is not submitted, whatever it would wait for.
    perform pgflow._refuse_unknown(array_agg(e.id order by e.n), array_agg(e.ends order by e.n))
       from unnest(p_dependencies, v_ends, p_edge_jobs) with ordinality e(id, ends, job, n)
      where not (e.ends = 'unknown' and (
        array_position(p_ids, p_ids[e.job]) < e.job
        or exists (select from pgflow.jobs j where j.id = p_ids[e.job])
        or exists (select from pgflow.job_archive a where a.id = p_ids[e.job])));
  end if;
  begin
    v_inserted := pgflow._insert_jobs(
      v_now, p_ids, p_needs, p_payloads, p_priorities, p_keys, p_wake_ats, p_expires_ats, p_max_attempts);
  exception when unique_violation then
    -- Somebody else inserts one of them right now. That does not happen to most, and to be ready for it would cost all.
    v_inserted := pgflow._insert_new_jobs(
      v_now, p_ids, p_needs, p_payloads, p_priorities, p_keys, p_wake_ats, p_expires_ats, p_max_attempts);
  end;
  -- An id may have been archived while the insert waited for it.
  v_archived := array(select a.id from pgflow.job_archive a where a.id = any (v_inserted));
  if v_archived <> '{}' then
    delete from pgflow.jobs j where j.id = any (v_archived);
    v_inserted := array(select unnest(v_inserted) except select unnest(v_archived));
    -- It was to be waited for as a job of the batch.
    if exists (select from unnest(p_kinds, p_dependencies, v_ends) d(kind, id, ends)
                where d.kind = 'job' and d.ends is null and d.id = any (v_archived)) then
      raise exception 'A job of the batch ended while it was submitted' using errcode = 'serialization_failure';
    end if;
  end if;

  -- Positions are looked for only where some were left out: that takes the square of a batch.
  v_all := cardinality(v_inserted) = cardinality(p_ids);
  if v_ends is not null then
    -- Of two items with one id the first was inserted.
    v_waiters := array(
      select case when v_all or (p_ids[e.job] = any (v_inserted) and array_position(p_ids, p_ids[e.job]) = e.job) then p_ids[e.job] end
        from unnest(p_edge_jobs) with ordinality e(job, n) order by e.n);
    update pgflow.jobs j set waits = e.waits, state = 'waiting'
      from pgflow._add_edges(v_waiters, p_kinds, p_dependencies, p_policies, v_ends) e
     where j.id = e.waiter;
  end if;

  select array_agg(i.n order by i.n) as positions, array_agg(i.key) filter (where i.key is not null) as keys,
         array_agg(i.id order by i.n) as ids, array_agg(i.need order by i.n) as needs, array_agg(i.detail order by i.n) as details
    into v_done
    from (
      select i.*, row_number() over (partition by i.id order by i.n) as time
        from unnest(p_ids, p_needs, p_keys, p_details) with ordinality i(id, need, key, detail, n)
       where v_all or i.id = any (v_inserted)
    ) i where i.time = 1;
  if v_done.ids is null then
    return '{}';
  end if;
  insert into pgflow.job_trace (at, kind, job, need, worker, detail)
  select v_now, 'submitted', i.id, i.need, p_worker, i.detail
    from unnest(v_done.ids, v_done.needs, v_done.details) i(id, need, detail)
   where (select s.trace from pgflow.job_settings s);
  v_deltas := array_fill(1, array[coalesce(cardinality(v_done.keys), 0)]);
  if v_ends is null then
    perform pgflow._line_up(v_done.keys, v_deltas);
  else
    perform pgflow._pass_on_ends(v_waiters, p_dependencies, p_policies, v_ends, p_worker, v_done.keys, v_deltas);
  end if;
  if (select s.notify from pgflow.job_settings s) then
    perform pgflow._announce_jobs(array_agg(j.id), array_agg(j.need))
       from pgflow.jobs j where j.id = any (v_done.ids) and j.state = 'ready' and j.key is null
        and (j.expires_at is null or j.expires_at > v_now);
  end if;
  return v_done.positions;
end;
$$;

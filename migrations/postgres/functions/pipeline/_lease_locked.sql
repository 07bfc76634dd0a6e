-- Leases messages whose rows the caller has locked: all but those of `p_keyed` whose keys others have. By priority, then place.
create or replace function pgflow._lease_locked(p_worker text, p_ids text[], p_keyed text[], p_seconds double precision)
returns setof pgflow.jobs
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_until timestamptz := clock_timestamp() + make_interval(secs => p_seconds);
  v_won text[] := '{}';
  v_taken pgflow.jobs[];
begin
  if p_keyed is not null then
    v_won := pgflow._take_keys(p_keyed);
  end if;
  with taken as (
    update pgflow.jobs j
       set state = 'leased', attempts = j.attempts + 1, token = gen_random_uuid(), lease_until = v_until, look_at = v_until,
           worker = p_worker
     where j.id = any (p_ids) and (j.key is null or j.id = any (v_won))
    returning j
  )
  select array_agg(t.j) into v_taken from taken t;
  perform pgflow._trace_jobs('claimed', array_agg(t.id order by t.priority desc, t.seq), array_agg(t.need order by t.priority desc, t.seq),
            array_agg(t.token order by t.priority desc, t.seq), p_worker)
     from unnest(v_taken) t;
  return query select t.* from unnest(v_taken) t order by t.priority desc, t.seq;
end;
$$;

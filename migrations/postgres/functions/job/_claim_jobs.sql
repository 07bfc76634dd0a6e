-- Takes the best ready jobs of these needs; see claim_jobs. Locks no more than it takes, unless that would be more than is handed out
-- at once (64 MB, or one job), and waits for nobody. In its transaction others are not waited for any more, see _lock_jobs.
create or replace function pgflow._claim_jobs(
  p_worker text,
  p_needs text[],
  p_seconds double precision,
  p_limit int,
  p_detail jsonb default null
) returns setof pgflow.jobs
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_until timestamptz := v_now + make_interval(secs => p_seconds);
  v_need record;
  v_left int := p_limit;
  v_free record;
  v_ids text[];
  v_keyed text[];
  v_candidates text[];
  v_weights bigint[];
  v_won text[];
  v_part pgflow.jobs[];
  v_taken pgflow.jobs[] := '{}';
  -- Their keys are held, or about to be.
  v_passed text[] := '{}';
  v_before int;
  -- At most what was found weighs, and what was leased before.
  v_found bigint;
  v_bytes bigint := 0;
  v_is_measured boolean;
  v_any_order boolean := false;
  v_is_due boolean;
begin
  if exists (select from pgflow.paused_needs) then
    p_needs := array(select n from unnest(p_needs) n where n not in (select p.need from pgflow.paused_needs p));
  end if;
  v_is_due := pgflow._tidy_line(v_now, p_needs, p_limit, p_worker, p_detail);
  -- Again while others were quicker, and at last in any order.
  loop
    v_before := v_left;
    v_ids := '{}';
    v_keyed := '{}';
    v_weights := '{}';
    v_found := 0;
    for v_need in select * from pgflow._shares_of_needs(p_needs, v_left, v_any_order) loop
      select array_agg(f.id) as ids, array_agg(f.id) filter (where f.key is not null) as keyed, array_agg(f.bytes) as weights, coalesce(sum(f.bytes), 0) as bytes
        into v_free
        from (
          select j.id, j.key, coalesce(octet_length(j.last_error), 0) + case
              when pg_column_size(j.payload) < 16000 and pg_column_compression(j.payload) is null then octet_length(j.payload::text)
              else pgflow._claim_bytes() end as bytes
            from pgflow.jobs j
           where j.state = 'ready' and j.need = v_need.need and (j.expires_at is null or j.expires_at > v_now)
             and j.id <> all (v_passed)
           order by j.priority desc, j.seq limit least(v_need.share, v_left - cardinality(v_ids)) for no key update skip locked
        ) f;
      v_ids := v_ids || v_free.ids;
      v_keyed := v_keyed || v_free.keyed;
      v_weights := v_weights || v_free.weights;
      v_found := v_found + v_free.bytes;
    end loop;
    v_candidates := v_ids;
    v_is_measured := v_bytes + v_found > pgflow._claim_bytes();
    if v_is_measured then
      v_ids := pgflow._fitting_jobs(v_ids, v_bytes);
      v_keyed := array(select k from unnest(v_keyed) k where k = any (v_ids));
    end if;
    v_won := '{}';
    if v_keyed <> '{}' then
      v_won := pgflow._take_keys(v_keyed);
      v_passed := v_passed || v_keyed;
    end if;
    with taken as (
      update pgflow.jobs j
         set state = 'leased', attempts = j.attempts + 1, token = gen_random_uuid(), lease_until = v_until,
             look_at = v_until, worker = p_worker
       where j.id = any (v_ids) and (j.key is null or j.id = any (v_won))
      returning j
    )
    select array_agg(t.j) into v_part from taken t;
    v_taken := v_taken || v_part;
    v_left := v_left - coalesce(cardinality(v_part), 0);
    -- Others of their keys are left where they are.
    v_bytes := v_bytes + (case when v_won = v_keyed then v_found else (
      select coalesce(sum(w.bytes), 0) from unnest(v_candidates, v_weights) w(id, bytes)
       where w.id in (select t.id from unnest(v_part) t)) end);
    -- What others had before is free, or what ranked behind them.
    continue when v_left > 0 and v_is_due and not v_is_measured and pgflow._bring_back(v_now, p_needs, v_left, p_worker, p_detail, true) > 0;
    exit when v_left <= 0 or v_any_order or (v_is_measured and v_taken <> '{}') or (cardinality(p_needs) = 1 and v_passed = '{}');
    v_any_order := v_left = v_before;
  end loop;
  if v_taken <> '{}' then
    perform set_config('pgflow.holds_jobs', 'on', true);
    perform pgflow._trace_jobs('claimed', array_agg(t.id order by t.priority desc, t.seq),
              array_agg(t.need order by t.priority desc, t.seq), array_agg(t.token order by t.priority desc, t.seq),
              p_worker, case when p_detail is not null then
                array_fill(p_detail || jsonb_build_object('until', v_until), array[cardinality(v_taken)]) end)
       from unnest(v_taken) t;
  end if;
  return query select t.* from unnest(v_taken) t order by t.priority desc, t.seq;
end;
$$;

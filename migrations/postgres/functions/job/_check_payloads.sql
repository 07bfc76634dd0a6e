-- Refuses payloads past the limits of payloads, and budgets of no attempt.
create or replace function pgflow._check_payloads(p_payloads jsonb[], p_max_attempts int[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_payloads is not null then
    -- Only what could be past a limit, as _check_payload says.
    perform pgflow._check_payload(p.payload, format('what belongs to job %s of the batch', p.n))
       from pgflow.limits l
       cross join lateral unnest(p_payloads) with ordinality p(payload, n)
      where pg_column_size(p.payload) >= least(800, l.max_payload_bytes / 9217) or pg_column_compression(p.payload) is not null;
  end if;
  if 1 > any (p_max_attempts) then
    raise exception 'A job has at least one attempt'
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'bad_attempts');
  end if;
end;
$$;

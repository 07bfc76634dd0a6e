-- Refuses a signal that cannot be kept.
create or replace function pgflow._check_signal(payload jsonb, resume_id text, buffer_for interval) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A stricter transaction does not see who came to wait since it began, and the signal would be kept for nobody.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'A signal is sent in a transaction that is read committed, not %', current_setting('transaction_isolation')
      using errcode = 'feature_not_supported';
  end if;
  if payload is null then
    raise exception 'A signal has a payload, which may be the JSON value null' using errcode = 'null_value_not_allowed';
  end if;
  if octet_length(resume_id) not between 1 and 200 or not pgflow._is_printable(resume_id) then
    raise exception 'A resume id has 1 to 200 printable bytes' using errcode = 'invalid_parameter_value';
  end if;
  if coalesce(buffer_for < interval '0', true) then
    raise exception 'A signal is kept for a while: %', buffer_for using errcode = 'invalid_parameter_value';
  end if;
  perform pgflow._check_payload(payload, 'the payload of a signal');
end;
$$;

-- What a job weighs, so that a claim knows it without reading payloads that it does not take.
alter table pgflow_jobs
  add column payload_bytes bigint generated always as (octet_length(payload)) stored;

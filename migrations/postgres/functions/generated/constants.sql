-- Written by `cargo xtask constants` from pgflow-machine/src/constants.rs; do not edit.
--
-- Immutable, so that a statement which is planned once has their values in its plan.

-- Seconds that a lease lasts longer than the step's timeout.
create or replace function pgflow._lease_grace() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 2 $$;

-- How often a task may be lost and queued again; one more, and its step ends.
create or replace function pgflow._max_requeues() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 3 $$;

-- What a claim hands out at once, unless it is one task.
create or replace function pgflow._claim_bytes() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 64000000 $$;

-- What a task may be given; one that is given more ends its step.
create or replace function pgflow._input_limit() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 264000000 $$;

-- What the payloads of a page of events have together, unless it is one event.
create or replace function pgflow._event_bytes() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 4194304 $$;

-- Tasks of a map from this index on are bulk.
create or replace function pgflow._bulk_from() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 16 $$;

-- How far back in time the lane of bulk begins.
create or replace function pgflow._bulk_lane() returns interval
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select interval '876000 hours' $$;

-- How far back in time the lane of bulk ends.
create or replace function pgflow._bulk_edge() returns interval
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select interval '438000 hours' $$;

-- The longest back-off in seconds: past a day a retry is a surprise, not a help.
create or replace function pgflow._max_retry_delay() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 86400 $$;

-- Characters that are kept of an error or reason: long enough for any stack trace.
create or replace function pgflow._max_error_length() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 65536 $$;

-- Chunks that can be appended to a stream at once.
create or replace function pgflow._chunks_at_once() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 1000 $$;

-- How long a stream of its own is kept after it was last written, unless its writers say otherwise.
create or replace function pgflow._stream_lasts() returns interval
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select interval '168 hours' $$;

-- Seconds after which a moment of a schedule is missed.
create or replace function pgflow._schedule_late() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 60 $$;

-- Moments of a schedule that wait for a run to end.
create or replace function pgflow._schedule_queue() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 1000 $$;

-- Signals that are kept for one token or task at a time.
create or replace function pgflow._kept_at_most() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 100 $$;

-- Runs or jobs that one attempt can wait for.
create or replace function pgflow._children_at_most() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 10000 $$;

-- What these may be given together, in bytes of JSON.
create or replace function pgflow._child_bytes() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 64000000 $$;

-- Parts of a payload that are compared with parts of a schema.
create or replace function pgflow._max_comparisons() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 20000 $$;

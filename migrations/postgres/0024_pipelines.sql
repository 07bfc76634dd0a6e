-- Pipelines: a queue is a need, a message is a job; see docs/pipelines.md. Here is what claims need besides. Names compare by bytes.

-- Resources, rates, how far fair queues are, and what claims of queues take. What is decided about their states is decided by the machine (`permit/`).
create table pgflow.permits (
  kind text collate "C" not null,
  name text collate "C" not null,
  state jsonb not null,
  -- Of a resource: there is less of it than there was, and nothing was granted since. Until then more may be held than there is.
  lowered boolean not null default false,
  constraint permits_pkey primary key (kind, name),
  constraint permits_kind_is_valid check (kind in ('resource', 'rate', 'round', 'turn', 'stage')),
  constraint permits_resource_is_whole check (
    kind <> 'resource' or coalesce((state ->> 'capacity')::bigint >= 1 and (state ->> 'fence')::bigint >= 0, false)),
  constraint permits_rate_is_whole check (kind <> 'rate' or coalesce(
    (state #>> '{rate,amount}')::bigint >= 0 and (state #>> '{rate,period}')::bigint > 0 and (state #>> '{rate,burst}')::bigint >= 1
    and (state #>> '{declared,amount}')::bigint >= 0 and (state ->> 'spent')::numeric is not null, false)),
  constraint permits_place_is_a_number check (kind not in ('round', 'turn') or (jsonb_typeof(state) = 'number' and state >= '0')),
  constraint permits_stage_is_whole check (kind <> 'stage' or coalesce(
    jsonb_typeof(state -> 'resources') = 'object' and jsonb_typeof(state -> 'rates') = 'array', false)),
  constraint permits_only_resources_are_lowered check (kind = 'resource' or not lowered)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- Who holds units of a resource: whoever has the lease with this token. Without the lease, nothing is held.
create table pgflow.permit_holds (
  resource text collate "C" not null,
  token uuid not null,
  job text collate "C" not null,
  -- Messages that were claimed together hold together.
  batch text collate "C" not null,
  units int not null,
  -- The number of the grant.
  fence bigint not null,
  constraint permit_holds_pkey primary key (resource, token),
  constraint permit_holds_units_are_some check (units > 0)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index permit_holds_by_token on pgflow.permit_holds (token);

-- What a claim has to know of a message besides its job; most have nothing of that.
create table pgflow.job_messages (
  job text collate "C" not null,
  -- Only messages of one key are in a batch.
  batch_key text collate "C",
  -- What an attempt at it holds: units by slug.
  resources jsonb,
  -- It keeps its key waiting until then.
  not_before timestamptz,
  constraint job_messages_pkey primary key (job)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- It can free keys now.
drop function if exists pgflow.settle_jobs(text[], text[], text[], jsonb[], text[], bigint[], text[], timestamptz[], int[], text);

-- Pipelines: a queue is a need, a message is a job. Here is what claims need besides. Moments are microseconds since 1970.

-- Resources, rates, how far fair queues are, and what claims of queues take. The state is JSON: what is decided about it is not decided by the database.
create table pgflow_permits (
  kind text not null,
  name text not null,
  state text not null,
  primary key (kind, name),
  constraint kind_is_known check (kind in ('resource', 'rate', 'round', 'turn', 'stage')),
  constraint capacity_is_there
    check (kind <> 'resource' or (json_valid(state) and (state ->> 'capacity') > 0))
) strict, without rowid;

-- Who holds units of a resource: whoever has the lease with this token. Without the lease, nothing is held.
create table pgflow_permit_holds (
  resource text not null,
  job integer not null,
  token text not null,
  -- Messages that were claimed together hold together.
  batch text not null,
  units integer not null check (units > 0),
  fence integer not null,
  primary key (resource, job, token)
) strict, without rowid;

create index pgflow_permit_holds_token on pgflow_permit_holds (token);

-- What a claim has to know of a message besides its job; most have nothing of that.
create table pgflow_messages (
  job text primary key,
  batch_key text,
  -- Units by slug, as JSON.
  resources text,
  -- It keeps its key waiting until then.
  not_before integer
) strict, without rowid;

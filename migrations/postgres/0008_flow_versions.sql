-- Versions of flows: each is a flow of its own, under a name that new runs are started by.

create table pgflow.flow_versions (
  flow_name text not null,
  version int not null,
  flow_slug text not null,
  created_at timestamptz not null default now(),
  constraint flow_versions_pkey primary key (flow_name, version),
  constraint flow_versions_flow_slug_key unique (flow_slug),
  constraint flow_versions_flow_slug_fkey foreign key (flow_slug) references pgflow.flows (flow_slug),
  constraint flow_name_is_valid check (pgflow.is_valid_slug(flow_name)),
  constraint version_is_positive check (version > 0)
);

-- Migrations of an application's flows that its own program has applied.
create table pgflow.flow_migrations (
  package text not null,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now(),
  constraint flow_migrations_pkey primary key (package, name)
);

-- What a signal said, in short: the payload itself is gone once it is delivered. Those that are there already have none.
alter table pgflow_signals add column digest binary(16);

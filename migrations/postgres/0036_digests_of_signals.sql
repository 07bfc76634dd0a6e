-- What a signal with a resume id said, in short: the payload itself is gone once it is delivered. Those that are there already have none.
alter table pgflow.signals add column digest text collate "C";
alter table pgflow.signals add constraint signals_digest_of_resumed check (digest is null or resume_id is not null);

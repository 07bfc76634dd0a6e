-- What a claim of batches finds messages of one key by: a copy of where their jobs stand, taken when the key is kept. The jobs decide.
alter table pgflow_messages add column need text;
alter table pgflow_messages add column priority integer;
alter table pgflow_messages add column seq integer;

update pgflow_messages
   set (need, priority, seq) = (select j.need, j.priority, j.seq from pgflow_jobs j where j.id = pgflow_messages.job)
 where batch_key is not null;
-- Of dead ones, which may be opened again.
update pgflow_messages
   set (need, priority, seq) = (select a.need, a.priority, a.seq from pgflow_job_archive a where a.id = pgflow_messages.job)
 where batch_key is not null and need is null;

create index pgflow_messages_batch on pgflow_messages (need, batch_key, priority desc, seq) where batch_key is not null;

-- For who counts what waits at one queue.
create index pgflow_jobs_parked on pgflow_jobs (need) where state = 'parked';

-- What a claim of batches finds messages of one key by: a copy of where their jobs stand, taken when the key is kept. The jobs decide.
alter table pgflow_messages add column need text;
alter table pgflow_messages add column priority integer;
alter table pgflow_messages add column seq integer;

update pgflow_messages
   set (need, priority, seq) = (select j.need, j.priority, j.seq from pgflow_jobs j where j.id = pgflow_messages.job)
 where batch_key is not null;

create index pgflow_messages_batch on pgflow_messages (need, batch_key, priority desc, seq) where batch_key is not null;

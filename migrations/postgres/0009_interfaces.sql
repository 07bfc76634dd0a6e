-- What a version of a flow takes and puts out, as a hash that programs which have its code give: a program
-- that was compiled for an older version can start this one if the two are alike.
alter table pgflow.flows add column interface text;

-- It has more parameters now.
drop function if exists pgflow.start_run(text, jsonb, uuid);

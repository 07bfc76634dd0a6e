-- Functions that get other parameters or results than they had.
drop function if exists pgflow._claim_queue(text, int, int, uuid, text[], int[]);
drop function if exists pgflow._claim_among(text, int, uuid, text[], int[]);
drop function if exists pgflow._read_and_start(text, int, int, uuid, text[], int[]);
drop function if exists pgflow._start_messages(text, bigint[], jsonb[], uuid);
drop function if exists pgflow._start_measured(text, bigint[], jsonb[], uuid, boolean);
drop function if exists pgflow._fates(uuid[], text[], int[]);

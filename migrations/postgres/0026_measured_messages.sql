-- Claims of messages are bounded in bytes, so every look measures.
drop function if exists pgflow.look_at_queue(text, text, text[], text[], int, boolean, boolean);
drop function if exists pgflow.more_messages(text, int, int, bigint, boolean);
drop function if exists pgflow._waiting_messages(text, int, int, bigint, boolean, text[]);

-- Functions that get other results than they had.

-- They say which stream of a name it is: one that was deleted and written again is another one.
drop function if exists pgflow.read_chunks(text, bigint, int, int);
drop function if exists pgflow._read_stream(uuid, text, int, bigint, int, int);

-- Functions that get other results than they had.

-- They say which stream of a name it is: one that was deleted and written again is another one.
drop function if exists pgflow.read_chunks(text, bigint, int, int);
drop function if exists pgflow._read_stream(uuid, text, int, bigint, int, int);

-- They say how many waits were told of ends.
drop function if exists pgflow.wake_waits(int);
drop function if exists pgflow._wake(text[], text[], text[], int);
drop function if exists pgflow._tell_waits(text[], text[], uuid[], text[], int[]);

-- Functions that take more than they did.

-- It is told why there is no input for the runs that are to start.
drop function if exists pgflow.advance_schedule(text, bigint, timestamptz[], uuid[], timestamptz, text, jsonb);

-- Attempts give up what they hold, by their tasks.
create index task_holds_task_idx on pgflow.task_holds (run_id, step_slug, task_index);

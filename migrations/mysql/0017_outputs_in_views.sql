-- The views of 0009 again, with the outputs of runs and of maps, and with entries of logs that say what they are about. The output of a map is put
-- together from those of its tasks, as far as `group_concat_max_len` of the session reaches: what would be cut off is null.

create or replace view workflow_runs as
select
  lower(insert(insert(insert(insert(hex(r.id), 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')) as run_id,
  f.name as workflow_name,
  f.slug as workflow_version,
  r.status,
  d.input,
  case when r.status = 'completed' then (
    select json_objectagg(json_unquote(json_extract(f.shape, concat('$.steps[', s.step, '].slug'))), json_extract(
        case json_unquote(json_extract(f.shape, concat('$.steps[', s.step, '].stepType'))) when 'map' then (
          select case when count(*) = 0 then '[]'
                      when octet_length(group_concat(t.output separator ', ')) = sum(octet_length(t.output)) + 2 * (count(*) - 1)
                        then concat('[', group_concat(t.output order by t.task_index separator ', '), ']') end
            from pgflow_tasks t where t.run = s.run and t.step = s.step)
          else (select t.output from pgflow_tasks t where t.run = s.run and t.step = s.step and t.task_index = 0) end, '$'))
      from pgflow_steps s where s.run = r.id and json_contains(r.output_steps, cast(s.step as char))) end as output,
  coalesce(r.cancel_reason, (
    select s.error from pgflow_steps s where s.run = r.id and s.status = 'failed' limit 1)) as error,
  timestampadd(microsecond, r.started_at, cast('1970-01-01' as datetime(6))) as created_at,
  timestampadd(microsecond, r.ended_at, cast('1970-01-01' as datetime(6))) as ended_at
from pgflow_runs r
join pgflow_flows f on f.id = r.flow
left join pgflow_run_data d on d.run = r.id;

create or replace view workflow_steps as
select
  lower(insert(insert(insert(insert(hex(s.run), 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')) as run_id,
  json_unquote(json_extract(f.shape, concat('$.steps[', s.step, '].slug'))) as step_name,
  s.status,
  case when s.status = 'completed' then
    case json_unquote(json_extract(f.shape, concat('$.steps[', s.step, '].stepType'))) when 'map' then (
      select case when count(*) = 0 then '[]'
                  when octet_length(group_concat(t.output separator ', ')) = sum(octet_length(t.output)) + 2 * (count(*) - 1)
                    then concat('[', group_concat(t.output order by t.task_index separator ', '), ']') end
        from pgflow_tasks t where t.run = s.run and t.step = s.step)
      else (select t.output from pgflow_tasks t where t.run = s.run and t.step = s.step and t.task_index = 0) end end as output,
  s.error,
  s.tasks,
  s.remaining_tasks,
  timestampadd(microsecond, r.started_at, cast('1970-01-01' as datetime(6))) as created_at,
  timestampadd(microsecond, s.started_at, cast('1970-01-01' as datetime(6))) as started_at,
  timestampadd(microsecond, s.ended_at, cast('1970-01-01' as datetime(6))) as ended_at
from pgflow_steps s
join pgflow_runs r on r.id = s.run
join pgflow_flows f on f.id = r.flow;

create or replace view workflow_events as
select
  lower(insert(insert(insert(insert(hex(e.run), 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')) as run_id,
  e.seq,
  json_unquote(json_extract(e.entry, '$.event')) as event_type,
  json_unquote(json_extract(f.shape, concat('$.steps[', json_extract(e.entry, '$.step'), '].slug'))) as step_name,
  case json_unquote(json_extract(e.entry, '$.event'))
    when 'run:started' then (select concat('{"input": ', d.input, '}') from pgflow_run_data d where d.run = e.run)
    when 'run:completed' then case when json_length(r.output_steps) = 0 then '{"output": null}' else concat('{"output": ', (
      select json_objectagg(json_unquote(json_extract(f.shape, concat('$.steps[', s.step, '].slug'))), json_extract(
          case json_unquote(json_extract(f.shape, concat('$.steps[', s.step, '].stepType'))) when 'map' then (
            select case when count(*) = 0 then '[]'
                        when octet_length(group_concat(t.output separator ', ')) = sum(octet_length(t.output)) + 2 * (count(*) - 1)
                          then concat('[', group_concat(t.output order by t.task_index separator ', '), ']') end
              from pgflow_tasks t where t.run = s.run and t.step = s.step)
            else (select t.output from pgflow_tasks t where t.run = s.run and t.step = s.step and t.task_index = 0) end, '$'))
        from pgflow_steps s where s.run = r.id and json_contains(r.output_steps, cast(s.step as char))), '}') end
    when 'step:completed' then (
      select concat('{"output": ',
        case json_unquote(json_extract(f.shape, concat('$.steps[', s.step, '].stepType'))) when 'map' then (
          select case when count(*) = 0 then '[]'
                      when octet_length(group_concat(t.output separator ', ')) = sum(octet_length(t.output)) + 2 * (count(*) - 1)
                        then concat('[', group_concat(t.output order by t.task_index separator ', '), ']') end
            from pgflow_tasks t where t.run = s.run and t.step = s.step)
          else (select t.output from pgflow_tasks t where t.run = s.run and t.step = s.step and t.task_index = 0) end, '}')
        from pgflow_steps s where s.run = e.run and s.step = json_extract(e.entry, '$.step'))
    else json_remove(e.entry, '$.event', '$.step') end as payload,
  timestampadd(microsecond, e.at, cast('1970-01-01' as datetime(6))) as created_at
from pgflow_events e
join pgflow_runs r on r.id = e.run
join pgflow_flows f on f.id = r.flow;

import { rebuildApprovals } from './approval-steps.ts';

/** Who owns names, tools at run time, MCP servers, schedules, models, loops and repairs. */
export const laterSteps: readonly string[] = [
  // Names had no owner before: whoever had a name first, as far as rows tell, owns it. What was kept under the name of a
  // plugin goes to the file that owns that name.
  `
  create table names (
    name text not null,
    path text not null,
    is_owner integer not null check (is_owner in (0, 1)),
    since integer not null,
    primary key (name, path)
  ) strict, without rowid;
  create unique index names_owned on names (name) where is_owner = 1;

  create temp table first_seen as
    select plugins.path as path, plugins.name as name, plugins.current_generation as generation, min(created_at) as at
    from plugins left join generations on generations.plugin_path = plugins.path group by plugins.path;
  insert or ignore into names select name, path, 1, 0 from first_seen order by at is null, at, path;
  insert or ignore into names
    select tool.value ->> '$.name', first_seen.path, 1, 0 from first_seen
    join generations on generations.id = first_seen.generation
    join json_each(case when json_valid(generations.manifest) then generations.manifest else '{}' end, '$.manifest.tools') as tool
    where tool.value ->> '$.name' is not null order by at, first_seen.path;
  drop table first_seen;

  create temp table unit_paths as
    select name, path from names where is_owner = 1
    union all
    select 'hook:' || substr(path, length(rtrim(path, replace(path, '/', ''))) + 1) as name, path from hook_approvals
    group by name having count(*) = 1;
  update kv set plugin = (select path from unit_paths where name = plugin)
    where plugin in (select name from unit_paths);
  update or replace kv_usage set plugin = (select path from unit_paths where name = plugin)
    where plugin in (select name from unit_paths);
  drop table unit_paths;

  update or ignore idempotency set tool = (
    select generations.plugin_path || '#' || idempotency.tool from executions
    join generations on generations.id = executions.generation where executions.id = execution_id)
    where exists (select 1 from executions join generations on generations.id = executions.generation
      where executions.id = execution_id);

  alter table keys add column made_by text;
  update keys set made_by = 'local' where not exists (
    select 1 from keys as maker where maker.role = 'admin' and maker.id <> keys.id and maker.created_at <= keys.created_at
      and (maker.revoked_at is null or maker.revoked_at >= keys.created_at)
      and maker.last_used_at >= keys.created_at - 60000);

  create table written_files (
    path text primary key not null,
    sha256 text not null,
    written_by text not null
  ) strict, without rowid;
  alter table generations add column written_by text;
  `,
  `
  alter table grants add column tool_owners text;
  alter table keys add column tool_owners text;
  `,
  `
  create table tool_settings (
    path text not null,
    tool text not null,
    mode text check (mode in ('on', 'off', 'auto')),
    who text check (who in ('model', 'person', 'both')),
    set_by text not null,
    set_at integer not null,
    primary key (path, tool),
    check (mode is not null or who is not null)
  ) strict, without rowid;

  create table tool_switches (
    name text primary key not null,
    set_by text not null,
    set_at integer not null
  ) strict, without rowid;
  `,
  `
${rebuildApprovals('approvals_of_all_kinds', '')}  create table mcp_pins (
    server text not null,
    item text not null,
    hash text not null,
    definition text not null,
    approved_by text not null,
    approved_at integer not null,
    primary key (server, item)
  ) strict, without rowid;
  create table mcp_logins (
    server text primary key not null,
    state text not null
  ) strict, without rowid;
  `,
  `
  create table tool_uses (
    path text not null,
    tool text not null,
    calls integer not null,
    last_used_at integer not null,
    primary key (path, tool)
  ) strict, without rowid;
  `,
  // There from the answer to a question for more than yes or no to the end of its call.
  `alter table approvals add column content text;`,
  `
  create table registered_tools (
    name text primary key not null,
    definition text not null,
    author text not null check (author in ('operator', 'caller')),
    made_by text not null,
    made_at integer not null
  ) strict, without rowid;
  `,
  `
  create table repairs (
    id text primary key not null,
    path text not null,
    plugin text not null,
    class text not null,
    failure_key text not null,
    content_hash text not null,
    state text not null,
    reason text not null,
    author text,
    generation text,
    generation_hash text,
    failure text not null,
    attempts text not null,
    proposal text,
    tokens integer not null,
    cost real not null,
    started_at integer not null,
    ended_at integer
  ) strict;
  create index repairs_by_path on repairs (path, started_at);
  create index repairs_by_state on repairs (state, started_at);
  `,
  `
  create table loops (
    id text primary key not null,
    caller text not null,
    purpose text not null,
    model text not null,
    request text not null,
    started_at integer not null,
    ended_at integer,
    ending text,
    bytes integer not null,
    check ((ended_at is null) = (ending is null))
  ) strict;
  create index loops_by_caller on loops (caller, started_at);
  create index loops_ended on loops (ended_at);
  create table loop_steps (
    loop_id text not null,
    number integer not null,
    step text not null,
    primary key (loop_id, number)
  ) strict;
  `,
  `
  create table model_uses (
    day integer not null,
    caller text not null,
    provider text not null,
    model text not null,
    purpose text not null,
    tool text not null,
    requests integer not null,
    failed integer not null,
    input_tokens integer not null,
    output_tokens integer not null,
    cache_read_tokens integer not null,
    cache_write_tokens integer not null,
    uncounted integer not null,
    cost_nanos integer not null,
    unpriced integer not null,
    latency_ms integer not null,
    max_latency_ms integer not null,
    primary key (day, caller, provider, model, purpose, tool)
  ) strict, without rowid;

  create table model_budgets (
    caller text not null,
    day integer not null,
    tokens integer not null,
    cost_nanos integer not null,
    primary key (caller, day)
  ) strict, without rowid;
  `,
  `
  create table schedules (
    id text primary key not null,
    caller text not null,
    session text not null,
    tool text not null,
    arguments text not null,
    time text not null,
    next_at integer not null,
    made_at integer not null
  ) strict;
  `,
  `
  create table kept_answers (
    caller text not null,
    key text not null,
    value text not null,
    bytes integer not null,
    at integer not null,
    primary key (caller, key)
  ) strict, without rowid;
  create index kept_answers_by_age on kept_answers (caller, at);
  `,
  // What nobody counted is guessed, and said to be.
  'alter table model_uses add column estimated integer not null default 0;',
  // Which engines there are says the daemon, not its database.
  `
  create table generations_of_any_engine (
    id text primary key not null,
    plugin_path text not null,
    number integer not null check (number > 0),
    author text not null check (author in ('operator', 'caller', 'model', 'repair')),
    engine text not null,
    content_hash text not null,
    code_hash text not null,
    image_hash text,
    image_fingerprint text,
    manifest text not null,
    inputs text not null,
    created_at integer not null,
    written_by text,
    unique (plugin_path, number)
  ) strict;
  insert into generations_of_any_engine select * from generations order by rowid;
  drop table generations;
  alter table generations_of_any_engine rename to generations;
  `,
];

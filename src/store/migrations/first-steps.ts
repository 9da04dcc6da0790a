import { approvalTable, rebuildApprovals } from './approval-steps.ts';

/** Records, plugins, grants, questions, keys and hooks. */
export const firstSteps: readonly string[] = [
  `
  create table executions (
    id text primary key not null,
    tool text not null,
    version text not null,
    plugin text not null,
    generation text not null,
    caller text not null,
    session text not null,
    status text not null check (status in ('pending', 'running', 'success', 'error', 'timeout', 'cancelled')),
    created_at integer not null,
    started_at integer,
    ended_at integer,
    duration_ms real,
    attempts integer not null check (attempts >= 0),
    idempotency_key text,
    arguments text not null,
    output text,
    error text,
    check ((status in ('pending', 'running')) = (ended_at is null))
  ) strict, without rowid;
  create index executions_by_tool on executions (tool, id);
  create index executions_by_caller on executions (caller, id);
  create index executions_not_successful on executions (status, id) where status <> 'success';

  create table recordings (
    execution_id text primary key not null,
    tool text not null,
    status text not null,
    created_at integer not null,
    blob blob not null
  ) strict;
  create index recordings_successful on recordings (tool, execution_id) where status = 'success';

  create table idempotency (
    caller text not null,
    tool text not null,
    key text not null,
    arguments_hash text not null,
    execution_id text not null,
    at integer not null,
    primary key (caller, tool, key)
  ) strict, without rowid;
  create index idempotency_by_execution on idempotency (execution_id);
  create index idempotency_by_time on idempotency (at);

  create table events (
    seq integer primary key check (seq > 0),
    type text not null,
    at integer not null,
    caller text,
    subject text not null,
    data text not null
  ) strict;
  create table event_reservation (only integer primary key check (only = 1), seq integer not null) strict;
  insert into event_reservation values (1, 0);

  create table generations (
    id text primary key not null,
    plugin_path text not null,
    number integer not null check (number > 0),
    author text not null check (author in ('operator', 'caller', 'model', 'repair')),
    engine text not null check (engine in ('quickjs', 'extism', 'deno', 'docker')),
    content_hash text not null,
    code_hash text not null,
    image_hash text,
    image_fingerprint text,
    manifest text not null,
    inputs text not null,
    created_at integer not null,
    unique (plugin_path, number)
  ) strict;

  create table plugins (
    path text primary key not null,
    name text not null,
    state text not null check (state in
      ('absent', 'loading', 'ready', 'pending-grant', 'degraded', 'failed', 'disabled', 'quarantined')),
    enabled integer not null check (enabled in (0, 1)),
    current_generation text,
    pinned_away_from text,
    diagnostic text,
    transitions text not null
  ) strict;

  create table keys (
    id text primary key not null,
    name text not null,
    role text not null check (role in ('admin', 'caller')),
    secret_hash text not null unique,
    created_at integer not null,
    last_used_at integer,
    revoked_at integer
  ) strict;

  create table kv (
    plugin text not null,
    owner text not null,
    key text not null,
    value text not null,
    primary key (plugin, owner, key)
  ) strict, without rowid;
  create table kv_usage (
    plugin text not null,
    owner text not null,
    bytes integer not null check (bytes >= 0),
    primary key (plugin, owner)
  ) strict, without rowid;
  create trigger kv_after_insert after insert on kv begin
    insert into kv_usage values (new.plugin, new.owner, octet_length(new.key) + octet_length(new.value))
      on conflict do update set bytes = bytes + excluded.bytes;
  end;
  create trigger kv_after_update after update of value on kv begin
    update kv_usage set bytes = bytes - octet_length(old.value) + octet_length(new.value)
      where plugin = new.plugin and owner = new.owner;
  end;
  create trigger kv_after_delete after delete on kv begin
    update kv_usage set bytes = bytes - octet_length(old.key) - octet_length(old.value)
      where plugin = old.plugin and owner = old.owner;
  end;
  `,
  `
  create table grants (
    id text primary key not null,
    plugin_path text not null,
    plugin_name text not null,
    content_hash text not null,
    permissions text not null,
    scope text not null check (scope in ('once', 'session', 'until', 'always')),
    caller text,
    session text,
    until_at integer,
    granted_by text not null,
    created_at integer not null,
    used_by text,
    revoked_at integer,
    check ((scope = 'session') = (session is not null and caller is not null)),
    check ((scope = 'until') = (until_at is not null))
  ) strict;
  create index grants_in_force on grants (plugin_path) where revoked_at is null;

  create table permission_uses (
    plugin_path text not null,
    permission text not null,
    last_used_at integer not null,
    primary key (plugin_path, permission)
  ) strict, without rowid;
  `,
  `
  alter table executions add column parent text;
  alter table executions add column engine text;
  create index executions_by_parent on executions (parent, id) where parent is not null;
  alter table keys add column rules text not null default '{}';

${approvalTable(" check (kind in ('grant', 'call', 'confirm'))")}  create table parked_calls (
    execution_id text primary key not null,
    facts text not null,
    blob blob,
    parked_at integer not null
  ) strict;

  create table secrets (
    name text primary key not null,
    value text not null,
    binding text not null,
    updated_at integer not null
  ) strict, without rowid;
  create table secret_key (only integer primary key check (only = 1), key blob not null) strict;

  create table audit (
    id integer primary key,
    at integer not null,
    execution_id text not null,
    caller text not null,
    plugin text not null,
    tool text not null,
    permission text not null,
    detail text not null,
    allowed integer not null check (allowed in (0, 1))
  ) strict;
  create index audit_by_execution on audit (execution_id);
  create index audit_by_plugin on audit (plugin, id);
  create index audit_by_caller on audit (caller, id);

  create table model_usage (
    plugin_path text not null,
    caller text not null,
    day integer not null,
    tokens integer not null check (tokens >= 0),
    primary key (plugin_path, caller, day)
  ) strict, without rowid;
  `,
  `
${rebuildApprovals('approvals_with_hooks', " check (kind in ('grant', 'call', 'confirm', 'hook'))")}  create table hook_approvals (
    path text primary key not null,
    content_hash text not null,
    approved_by text not null,
    approved_at integer not null
  ) strict, without rowid;
  `,
  `
  -- Globs of the tools whose calls the approved files watch over, as JSON; null when they watch over none.
  alter table hook_approvals add column guarded_tools text;
  `,
  `
  alter table executions add column cut text;
  `,
  `alter table executions add column warnings text;`,
];

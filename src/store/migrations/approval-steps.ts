/** The columns of questions to people, the same in every step; `name` is what the table is called until it is in its place. */
function createApprovals(name: string, checkOfKind: string): string {
  return `  create table ${name} (
    id text primary key not null,
    kind text not null${checkOfKind},
    ask_key text not null,
    plugin_path text not null,
    plugin text not null,
    tool text,
    execution_id text,
    caller text,
    session text,
    reason text not null,
    question text not null,
    arguments_hash text not null,
    details text not null,
    status text not null check (status in ('open', 'approved', 'denied', 'expired', 'withdrawn')),
    created_at integer not null,
    expires_at integer not null,
    answered_at integer,
    answered_by text,
    check ((status = 'open') = (answered_at is null))
  ) strict;
`;
}

const indexes = `  create unique index approvals_by_key on approvals (ask_key)
    where status <> 'withdrawn' and (kind <> 'grant' or status in ('open', 'denied'));
  create index approvals_open on approvals (expires_at) where status = 'open';
  create index approvals_by_execution on approvals (execution_id) where execution_id is not null;

`;

/** The table of questions to people with its indexes, as it was first. */
export function approvalTable(checkOfKind: string): string {
  return createApprovals('approvals', checkOfKind) + indexes;
}

/** Another check of the kinds of questions needs another table, into which the rows are copied. */
export function rebuildApprovals(name: string, checkOfKind: string): string {
  return `${createApprovals(name, checkOfKind)}  insert into ${name} select * from approvals order by rowid;
  drop table approvals;
  alter table ${name} rename to approvals;
${indexes}`;
}

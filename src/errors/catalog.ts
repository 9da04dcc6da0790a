/** One row of the catalog: what went wrong in three words, the usual next step, and the HTTP status of the refusal. */
interface CatalogRow {
  readonly title: string;
  readonly fix: string;
  readonly status: number;
}

/** Every code that Hotcell reports, in every door. A test walks it. */
export const errorCatalog = {
  'arguments-invalid': {
    title: 'Arguments do not fit the tool',
    fix: 'Compare the arguments with the schema: hotcell tool info NAME.',
    status: 400,
  },
  'code-invalid': {
    title: 'Script does not fit the tools',
    fix: 'Mend it and call run_code again. See what a tool takes with search_code.',
    status: 400,
  },
  'body-invalid': {
    title: 'Request body is not valid',
    fix: 'Send what fits the schema in /openapi.json.',
    status: 400,
  },
  'usage-wrong': { title: 'Wrong usage', fix: 'See hotcell --help.', status: 400 },
  unauthenticated: {
    title: 'No valid token',
    fix: 'Send Authorization: Bearer <token>; the admin token is in the file "token" of the data directory, and a key for a program is made with: hotcell key create.',
    status: 401,
  },
  forbidden: {
    title: 'Not allowed for this caller',
    fix: 'Ask the operator: this takes the admin token, or a key of role admin.',
    status: 403,
  },
  'host-refused': { title: 'Host or Origin refused', fix: 'Use the address that hotcell start printed.', status: 403 },
  'permission-denied': {
    title: 'Permission denied',
    fix: 'Allow it with hotcell grant NAME PERMISSION; see hotcell docs permissions.',
    status: 403,
  },
  'not-found': { title: 'Not found', fix: 'See /openapi.json for what there is.', status: 404 },
  'tool-unknown': { title: 'No such tool', fix: 'List the tools: hotcell tool list.', status: 404 },
  'prompt-unknown': { title: 'No such prompt', fix: 'List the prompts: hotcell prompt list.', status: 404 },
  'resource-unknown': { title: 'No such resource', fix: 'List the resources: hotcell resource list.', status: 404 },
  'plugin-unknown': { title: 'No such plugin', fix: 'List the plugins: hotcell plugin list.', status: 404 },
  'skill-unknown': { title: 'No such skill', fix: 'List the skills: hotcell skill list.', status: 404 },
  'execution-unknown': { title: 'No such execution', fix: 'List executions: hotcell executions.', status: 404 },
  'repair-unknown': { title: 'No such repair', fix: 'List the repairs: hotcell repair list.', status: 404 },
  'loop-unknown': { title: 'No such loop', fix: 'List the loops: hotcell loops.', status: 404 },
  'approval-unknown': { title: 'No such question', fix: 'List the open ones: hotcell approve.', status: 404 },
  'hook-unknown': { title: 'No such hook', fix: 'List the hooks: hotcell hook list.', status: 404 },
  'key-unknown': { title: 'No such key', fix: 'List the keys: hotcell key list.', status: 404 },
  'not-replayable': {
    title: 'Execution cannot be replayed',
    fix: 'See hotcell docs replay for what is recorded, and how much of it is kept.',
    status: 409,
  },
  'generation-unknown': { title: 'No such generation', fix: 'See hotcell plugin history NAME.', status: 404 },
  'method-not-allowed': { title: 'Method not allowed', fix: 'See /openapi.json for the methods.', status: 405 },
  conflict: { title: 'In conflict with the present state', fix: 'Look at the state first, then try again.', status: 409 },
  'idempotency-in-progress': {
    title: 'Same key still running',
    fix: 'Wait for the first call to end, then ask again.',
    status: 409,
  },
  'idempotency-mismatch': {
    title: 'Same key, other arguments',
    fix: 'Use a new idempotency key for other arguments.',
    status: 409,
  },
  'payload-too-large': { title: 'Too large', fix: 'Send less, or have the operator raise the limit in the config.', status: 413 },
  'plugin-not-ready': { title: 'Plugin cannot serve', fix: 'See hotcell why NAME.', status: 409 },
  'reload-failed': { title: 'Reload failed', fix: 'Mend the file; the last good generation keeps serving.', status: 422 },
  'model-budget-exceeded': {
    title: 'Daily budget for models used up',
    fix: 'Ask for less, wait for the next day (UTC), or have the operator raise it: hotcell key update ID.',
    status: 429,
  },
  'rate-limited': { title: 'Too many calls', fix: 'Wait, then try again.', status: 429 },
  'hook-refused': {
    title: 'A hook refused the call',
    fix: 'Do as the hook says; an operator sees the hooks with hotcell hook list.',
    status: 403,
  },
  'hook-failed': {
    title: 'A hook failed, so the call did not begin',
    fix: 'Mend the hook or switch it off: hotcell hook revoke NAME; its runs: hotcell executions.',
    status: 502,
  },
  'queue-full': { title: 'Queue is full', fix: 'Wait for running calls to end, then try again.', status: 429 },
  internal: { title: 'Fault in the daemon', fix: 'Look for the id in the log of the daemon.', status: 500 },
  'client-cannot': {
    title: 'Client cannot be asked',
    fix: 'Call the tool from a client that can, such as an MCP client with the ability that it names.',
    status: 501,
  },
  'not-supported': { title: 'Not supported here', fix: 'See hotcell docs plugin-format for what is supported.', status: 501 },
  'tools-disabled': {
    title: 'Tools are switched off',
    fix: 'Turn them on: hotcell tool switch enabled on, or tools.enabled in the config.',
    status: 503,
  },
  'tool-off': { title: 'Tool is switched off', fix: 'Turn it on: hotcell tool set NAME --mode on.', status: 503 },
  'shutting-down': { title: 'Daemon is stopping', fix: 'Start it again: hotcell start.', status: 503 },
  'storage-full': { title: 'Disk is full', fix: 'Free space on the disk of the data directory.', status: 507 },
  'storage-damaged': {
    title: 'Database is damaged',
    fix: 'Stop hotcell, move hotcell.db and hotcell.db-wal out of the data directory, and start again.',
    status: 500,
  },
  'storage-failed': {
    title: 'Data directory cannot be used',
    fix: 'Check that the data directory exists, is yours and can be written.',
    status: 500,
  },
  // Failures of one execution: the call ran (HTTP 200) and ended so.
  'handler-threw': {
    title: 'Handler threw',
    fix: 'See its arguments and what it logged: hotcell executions show ID.',
    status: 200,
  },
  'handler-never-settles': {
    title: 'Promise never settles',
    fix: 'Resolve or reject the promise that the handler returns.',
    status: 200,
  },
  'output-invalid': {
    title: 'Output is not usable',
    fix: 'Return text or JSON, and where the tool declares an output schema, what fits it.',
    status: 200,
  },
  'time-exceeded': { title: 'Time limit reached', fix: 'Do less, or raise timeoutMs or limits.cpuMs.', status: 200 },
  'memory-exceeded': { title: 'Memory limit reached', fix: 'Use less memory, or raise limits.memoryBytes.', status: 200 },
  'waiting-memory-exceeded': {
    title: 'Waiting calls hold too much memory',
    fix: 'Hold less while waiting, or call later; an operator can raise waiting.maxMemoryBytes and waiting.maxStoredBytes.',
    status: 200,
  },
  'stack-exceeded': { title: 'Stack limit reached', fix: 'Recurse less, or raise limits.stackBytes.', status: 200 },
  'output-exceeded': { title: 'Output limit reached', fix: 'Return less, or raise limits.outputBytes.', status: 200 },
  'host-calls-exceeded': { title: 'Too many host calls', fix: 'Ask the host less, or raise limits.hostCalls.', status: 200 },
  'pending-host-calls-exceeded': {
    title: 'Too many host calls at once',
    fix: 'Await some before the next, or raise limits.pendingHostCalls.',
    status: 200,
  },
  'engine-missing': {
    title: 'Engine is not installed',
    fix: 'Install what the message names; hotcell doctor shows what is there.',
    status: 501,
  },
  'engine-failed': { title: 'Sandbox failed', fix: 'Try again; if it comes back, look at hotcell why NAME.', status: 200 },
  'call-cycle': {
    title: 'Tools call one another in a circle',
    fix: 'Do the work in one tool, or call another one.',
    status: 409,
  },
  'call-too-deep': {
    title: 'Too many tools within tools',
    fix: 'Call fewer tools from within tools, or raise tools.maxDepth.',
    status: 409,
  },
  'model-unknown': { title: 'No such model', fix: 'List the models: hotcell models list.', status: 404 },
  'model-not-configured': {
    title: 'No model to ask',
    fix: 'Name one in the config under models.providers; see hotcell docs models.',
    status: 503,
  },
  'model-failed': { title: 'Model did not answer', fix: 'Check the model server, its key and its limits.', status: 502 },
  'docker-missing': {
    title: 'Docker is not there',
    fix: 'Install and start it: apt-get install docker.io (or podman); see hotcell doctor.',
    status: 503,
  },
  'image-refused': { title: 'Image not allowed', fix: 'Add it to docker.images in the config.', status: 403 },
  'image-missing': { title: 'Image is not on this machine', fix: 'See hotcell images for how to get it.', status: 409 },
  'image-changed': { title: 'Image is another one now', fix: 'Accept it: hotcell images accept NAME.', status: 409 },
  'command-missing': { title: 'Command has no image', fix: 'Name one in docker.commands of the config.', status: 404 },
  interrupted: { title: 'Interrupted by a stop of the daemon', fix: 'Call again.', status: 200 },
  'approval-denied': { title: 'A person said no', fix: 'Ask the operator before you try again.', status: 200 },
  'approval-expired': {
    title: 'Nobody answered in time',
    fix: 'Call again, and have it answered: hotcell approve.',
    status: 200,
  },
  cancelled: { title: 'Cancelled', fix: 'Call again if it was not meant.', status: 200 },
  'network-refused': { title: 'Address refused', fix: 'Name the host in permissions.net and grant it.', status: 200 },
  'network-failed': { title: 'Network failed', fix: 'Check that the host answers.', status: 200 },
  'secret-misplaced': {
    title: 'Secret in the wrong place',
    fix: 'Send it only where hotcell secret list says that it may go.',
    status: 200,
  },
  'file-refused': { title: 'Path refused', fix: 'Use a relative path inside the workspace.', status: 200 },
  'file-failed': { title: 'File operation failed', fix: 'Check that the path exists in the workspace.', status: 200 },
  'quota-exceeded': { title: 'Quota reached', fix: 'Delete what is not needed, or raise the quota.', status: 200 },
  // Failures of a build: kept as the diagnostic of a plugin.
  'compile-failed': {
    title: 'Does not compile',
    fix: 'Save the file when it is mended: it is built again by itself.',
    status: 422,
  },
  'api-description-invalid': {
    title: 'Description of an API not taken',
    fix: 'Check the description: OpenAPI 3.0 or 3.1, as JSON or YAML, in one file.',
    status: 422,
  },
  'import-unresolved': {
    title: 'Import not found',
    fix: 'Install the package beside the plugin, or correct the path.',
    status: 422,
  },
  'import-refused': {
    title: 'Import not allowed',
    fix: 'Import only from the folder of the plugin, a shared folder or node_modules.',
    status: 422,
  },
  'builtin-refused': {
    title: 'Node built-in not available',
    fix: 'Use the capability or engine that the message names.',
    status: 422,
  },
  'engine-pending': {
    title: 'Waits for an engine',
    fix: 'Allow it with hotcell grant NAME engine=ENGINE; see hotcell docs engines.',
    status: 422,
  },
  'engine-refused': { title: 'Engine not allowed', fix: 'Add it to engines.allow in the config.', status: 422 },
  'entry-invalid': { title: 'Not a plugin file', fix: 'See hotcell docs plugin-format.', status: 422 },
  'load-failed': { title: 'Does not load', fix: 'Mend the code that runs when the module is evaluated.', status: 422 },
  'export-missing': { title: 'No default export', fix: 'Write: export default { name, description, handler }.', status: 422 },
  'manifest-invalid': {
    title: 'Manifest is not valid',
    fix: 'Correct the named key; see hotcell docs plugin-format.',
    status: 422,
  },
  'permissions-invalid': {
    title: 'Permissions cannot be read',
    fix: 'See hotcell docs permissions for the keys and values.',
    status: 422,
  },
  'hook-invalid': { title: 'Hook is not valid', fix: 'Correct what the message names; see hotcell docs hooks.', status: 422 },
  'mcp-unknown': { title: 'MCP server unknown', fix: 'List what there is: hotcell mcp servers.', status: 404 },
  'mcp-unreachable': { title: 'MCP server not reachable', fix: 'See why: hotcell mcp servers.', status: 502 },
  'mcp-tool-failed': {
    title: 'Tool of an MCP server failed',
    fix: 'Read what the server says; the arguments may be wrong.',
    status: 502,
  },
  'service-failed': {
    title: 'Service of a tool failed',
    fix: 'Look at the log of the service, and at what it was asked: hotcell executions show ID.',
    status: 502,
  },
  'search-not-configured': {
    title: 'Nobody to search the web',
    fix: 'Name a provider in the config under search; see hotcell docs builtins.',
    status: 503,
  },
  'search-failed': { title: 'Search provider did not answer', fix: 'Check the provider, its address and its key.', status: 502 },
  'page-unreadable': {
    title: 'Page cannot be read',
    fix: 'Ask for it with http_request, or look for another page that says the same.',
    status: 502,
  },
  'tool-duplicate': { title: 'Name belongs to another', fix: 'Give one of the two another name or version.', status: 409 },
  'name-ambiguous': { title: 'Name means several plugins', fix: 'Name the one that is meant by its path.', status: 409 },
  'secret-invalid': {
    title: 'Secret cannot be kept',
    fix: 'Correct what the message names; see hotcell docs secrets.',
    status: 400,
  },
  'config-invalid': { title: 'Config is not valid', fix: 'Correct the named key; see hotcell docs configuration.', status: 400 },
  'port-in-use': { title: 'Port is in use', fix: 'Stop the other program or choose another: --port N.', status: 500 },
  'daemon-unreachable': { title: 'Daemon does not answer', fix: 'Start it: hotcell start.', status: 500 },
} as const satisfies Record<string, CatalogRow>;

/** A stable error code. */
export type ErrorCode = keyof typeof errorCatalog;

/** Whether a text is one of the codes. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCatalog, code);
}

/** An error with the code that a refusal of the daemon has too. */
export function makeRefusal(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** What cannot exist outside a daemon, by the operation that asks for it. */
export function refuseInModule(op: string): Error {
  const member = op === 'module' || op.startsWith('intl') ? 'Intl' : `context.${op}`;
  return makeRefusal(
    'not-supported',
    `${member} is not part of a built module: it needs the Hotcell daemon. Run the plugin there.`,
  );
}

/** An error with a code of Node's, which libraries compare. */
export function nodeError<Kind extends Error>(
  Kind: new (message: string) => Kind,
  code: string,
  message: string,
): Kind & { code: string } {
  return Object.assign(new Kind(message), { code });
}

/** The complaint about an argument of the wrong type. */
export function wrongType(name: string, expected: string, value: unknown): TypeError {
  const came = value === null ? 'null' : typeof value;
  return nodeError(TypeError, 'ERR_INVALID_ARG_TYPE', `The "${name}" argument must be ${expected}. Received ${came}`);
}

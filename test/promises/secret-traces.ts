/** Every form in which bytes are searched for a value: as it is, for URLs and JSON, in base64 at every offset, in hex. */
export function listTraces(value: string): readonly string[] {
  const inBase64 = (encoding: 'base64' | 'base64url') =>
    ['', '\0', '\0\0'].map((pad) =>
      Buffer.from(pad + value)
        .toString(encoding)
        .slice(4, -4),
    );
  const asParameter = new URLSearchParams({ '': value }).toString().slice(1);
  return [
    value,
    encodeURIComponent(value),
    asParameter,
    JSON.stringify(value).slice(1, -1),
    ...inBase64('base64'),
    ...inBase64('base64url'),
    Buffer.from(value).toString('hex'),
  ];
}

/** The forms of the values that the bytes hold. */
export function findTraces(values: readonly string[], haystack: string | Uint8Array): string[] {
  const bytes = Buffer.from(haystack);
  return values.flatMap(listTraces).filter((trace) => bytes.includes(trace));
}

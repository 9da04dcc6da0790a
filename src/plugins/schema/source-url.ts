/** The address in a comment `// @source: URL` among the comments that lead the file. */
export function findSourceUrl(text: string): string | undefined {
  const head = text.slice(0, 4096).split('\n', 20);
  for (const line of head) {
    if (!/^\s*(#!|\/\/|\/\*|\*|$)/.test(line)) return undefined;
    const address = /^\s*(?:\/\/|\/\*+|\*)\s*@source:?\s+(https?:\/\/\S+)/.exec(line)?.[1];
    if (address !== undefined) return URL.parse(address)?.href;
  }
  return undefined;
}

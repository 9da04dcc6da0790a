const namedSecret = /\$\{secret:([A-Za-z_][A-Za-z0-9_.-]{0,127})\}/g;

/** The names of the secrets that texts of an operator name, in order. */
export function listSecrets(texts: readonly string[]): string[] {
  const found = texts.flatMap((text) => [...text.matchAll(namedSecret)].map(([, name = '']) => name));
  return [...new Set(found)].sort();
}

/** The text with each secret that it names replaced by what `read` answers. */
export function fillText(text: string, read: (name: string) => string): string {
  return text.replace(namedSecret, (_, name: string) => read(name));
}

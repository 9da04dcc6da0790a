/** The reason of a refusal ends a sentence about the name. */
export type CheckedName = { readonly ok: true } | { readonly ok: false; readonly reason: string };

const maxPackageChars = 128;
const maxUrlChars = 512;
const attribute = /^[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_][A-Za-z0-9_-]*)*$/;
/** Words that mean something else than a package where a package is expected. */
const reserved = new Set([
  'abort',
  'assert',
  'builtins',
  'derivation',
  'else',
  'if',
  'import',
  'in',
  'inherit',
  'let',
  'or',
  'rec',
  'then',
  'throw',
  'with',
]);
const hosted = /^(?:github|gitlab|sourcehut):[A-Za-z0-9_.~-]+\/[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_./-]+)?$/;
const fetched = /^(?:git\+https|https):\/\/[A-Za-z0-9.-]+(?::\d{1,5})?\/[A-Za-z0-9_./~%+-]+$/;
const query = /^(?:[a-z]+=[A-Za-z0-9_./-]+)(?:&[a-z]+=[A-Za-z0-9_./-]+)*$/;
const fragment = /^[A-Za-z0-9_.-]+$/;

/**
 * Checks the name of a package. `nix-shell -p` reads each as an expression of its language, so that only the path of an
 * attribute of Nixpkgs is let through: `jq`, `python3Packages.requests`.
 */
export function checkNixPackage(name: string): CheckedName {
  if (name.length > maxPackageChars) return refuse(`has more than ${maxPackageChars} characters`);
  if (!attribute.test(name)) return refuse('is no package of Nixpkgs; write it as jq or python3Packages.requests');
  if (reserved.has(name.split('.', 1)[0] ?? '')) return refuse('is a word of the language of Nix and no package');
  return { ok: true };
}

/** Checks the address of a flake: from a code host or over HTTPS, never a path of this machine. */
export function checkFlakeUrl(url: string): CheckedName {
  if (url.length > maxUrlChars) return refuse(`has more than ${maxUrlChars} characters`);
  const [beforeHash = '', hash] = splitOnce(url, '#');
  const [address = '', question] = splitOnce(beforeHash, '?');
  if (address.split('/').includes('..')) return refuse('leads upward with ".."');
  if (!hosted.test(address) && !fetched.test(address)) {
    return refuse('is no address of a flake; write it as github:owner/repository or git+https://host/path');
  }
  if (question !== undefined && !query.test(question)) return refuse('has a query that is not understood');
  if (hash !== undefined && !fragment.test(hash)) return refuse('has a name after "#" that is not understood');
  return { ok: true };
}

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function refuse(reason: string): CheckedName {
  return { ok: false, reason };
}

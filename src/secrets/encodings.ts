/** Bytes to look for. `before` and `after` count neighbours that carry a few bits of the secret too. */
export interface Needle {
  readonly bytes: Uint8Array;
  readonly before: 0 | 1;
  readonly after: 0 | 1;
}

/** Every form in which a secret is recognized when it comes back. */
export function listEncodings(value: string): readonly Needle[] {
  const needles = new Map<string, Needle>();
  const add = (bytes: Uint8Array, before: 0 | 1 = 0, after: 0 | 1 = 0): void => {
    const key = Buffer.from(bytes).toString('latin1');
    const known = needles.get(key);
    needles.set(key, { bytes, before: known?.before === 1 ? 1 : before, after: known?.after === 1 ? 1 : after });
  };
  const bytes = Buffer.from(value, 'utf8');
  for (const text of listTexts(value, bytes)) add(Buffer.from(text, 'utf8'));
  // Latin-1 is how HTTP headers carry what is not ASCII.
  add(Buffer.from(value, 'latin1'));
  add(Buffer.from(value, 'utf16le'));
  for (const offset of [0, 1, 2]) {
    const { core, before, after } = encodeBase64(bytes, offset);
    add(Buffer.from(core), before, after);
    add(Buffer.from(core.replaceAll('+', '-').replaceAll('/', '_')), before, after);
    add(Buffer.from(core.replaceAll('/', '\\/')), before, after);
  }
  return [...needles.values()];
}

function listTexts(value: string, bytes: Buffer): string[] {
  const hex = bytes.toString('hex');
  const percent = hex.replace(/../g, '%$&');
  const component = encodeURIComponent(value.toWellFormed());
  const form = new URLSearchParams({ '': value }).toString().slice(1);
  const json = JSON.stringify(value).slice(1, -1);
  const asciiJson = json.replace(/[^ -~]/g, writeUnit);
  const safeJson = json.replace(/[<>&]/g, writeUnit);
  const encoded = [
    component,
    form,
    component.replaceAll('%20', '+'),
    form.replaceAll('+', '%20'),
    encodeURI(value.toWellFormed()),
  ];
  const html = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
  return [
    value,
    // Names of headers and hosts lose their case on the way.
    value.toLowerCase(),
    value.toUpperCase(),
    ...encoded,
    ...encoded.map(lowerEscapes),
    percent,
    percent.toUpperCase(),
    hex,
    hex.toUpperCase(),
    json,
    json.replaceAll('/', '\\/'),
    asciiJson,
    asciiJson.replaceAll('/', '\\/'),
    asciiJson.replace(/\\u[0-9a-f]{4}/g, (unit) => `\\u${unit.slice(2).toUpperCase()}`),
    safeJson,
    safeJson.replace(/[^ -~]/g, writeUnit),
    html,
    html.replaceAll("'", '&#39;'),
    html.replaceAll("'", '&#x27;'),
  ];
}

/** One unit of UTF-16 as JSON may write it. */
function writeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function lowerEscapes(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (encoded) => encoded.toLowerCase());
}

/** The characters that are wholly made of the secret when it begins `offset` bytes after a group of three. */
function encodeBase64(bytes: Buffer, offset: number): { core: string; before: 0 | 1; after: 0 | 1 } {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  const bits = 8 * (offset + bytes.length);
  const core = text.slice(Math.ceil((8 * offset) / 6), Math.floor(bits / 6));
  return { core, before: offset > 0 ? 1 : 0, after: bits % 6 === 0 ? 0 : 1 };
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSameAsNode } from './web-api-compare.ts';
import { startWebGuest, type WebGuest } from './web-api-guest.ts';

let guest: WebGuest;
beforeAll(async () => {
  guest = await startWebGuest();
});
afterAll(() => guest.close());

const collect = `const collect = async (stream) => { const seen = []; for await (const chunk of stream) seen.push(chunk); return seen; };`;

describe('ReadableStream', () => {
  it('reads, closes and reports errors as in Node', async () => {
    await expectSameAsNode(
      guest,
      `${collect} let pulls = 0; const counted = new ReadableStream({ pull(c) { if (++pulls > 3) c.close(); else c.enqueue(pulls); } });
       const failing = new ReadableStream({ start(c) { c.enqueue(1); c.error(new RangeError('broken')); } });
       const out = [await collect(counted), pulls, await collect(failing).catch((e) => e.message), await collect(ReadableStream.from(['a', Promise.resolve('b')]))];
       const stream = new ReadableStream({ start(c) { c.enqueue('x'); c.close(); } }); const reader = stream.getReader();
       out.push(stream.locked, await reader.read(), await reader.read(), await reader.closed); reader.releaseLock(); out.push(stream.locked, await reader.read().catch((e) => e.name)); return out`,
    );
  });

  it('tells the source of a cancel', async () => {
    await expectSameAsNode(
      guest,
      `const seen = []; const make = () => new ReadableStream({ pull(c) { c.enqueue(1); }, cancel(reason) { seen.push(reason ?? 'none'); } });
       await make().cancel('why'); for await (const chunk of make()) { seen.push(chunk); break; }
       const [left, right] = make().tee(); const both = Promise.all([left.cancel('l'), right.cancel('r')]); await both; seen.push('done'); return seen.map(String)`,
    );
  });

  it('splits with tee', async () => {
    await expectSameAsNode(
      guest,
      `${collect} const [a, b] = ReadableStream.from([1, 2, 3]).tee(); return [await collect(a), await collect(b)]`,
    );
  });

  it('carries response bodies', async () => {
    await expectSameAsNode(
      guest,
      `${collect} const r = new Response('hé'); const before = r.bodyUsed; const text = await collect(r.body.pipeThrough(new TextDecoderStream())); const c = new Response(ReadableStream.from([new Uint8Array([104])])); const copy = c.clone();
       return [before, text, r.bodyUsed, await r.text().catch((e) => e.name), await c.text(), await copy.text()]`,
    );
  });
});

describe('TransformStream', () => {
  it('changes, adds and ends as in Node', async () => {
    await expectSameAsNode(
      guest,
      `${collect} const twice = () => new TransformStream({ transform(chunk, c) { c.enqueue(chunk); c.enqueue(chunk * 2); }, flush(c) { c.enqueue('end'); } });
       const none = new TransformStream({ transform(chunk, c) { if (chunk === 3) c.terminate(); } });
       return [await collect(ReadableStream.from([1, 2]).pipeThrough(twice()).pipeThrough(new TransformStream())), await collect(ReadableStream.from([1, 2, 3, 4]).pipeThrough(none)),
         await collect(ReadableStream.from([1]).pipeThrough(new TransformStream({ transform() { throw new TypeError('no'); } }))).catch((e) => e.message),
         await collect(new ReadableStream({ start(c) { c.error(new Error('source')); } }).pipeThrough(new TransformStream())).catch((e) => e.message)]`,
    );
  });

  it('splits and joins characters', async () => {
    await expectSameAsNode(
      guest,
      `${collect} const bytes = [...new TextEncoder().encode('a😀é')].map((byte) => Uint8Array.of(byte));
       return [await collect(ReadableStream.from(bytes).pipeThrough(new TextDecoderStream())), (await collect(ReadableStream.from(['a\\ud83d', '\\ude00']).pipeThrough(new TextEncoderStream()))).flatMap((chunk) => [...chunk])]`,
    );
  });
});

describe('WritableStream', () => {
  it('writes in order, closes and fails as in Node', async () => {
    await expectSameAsNode(
      guest,
      `const seen = []; const stream = new WritableStream({ async write(chunk) { await null; seen.push(chunk); }, close() { seen.push('closed'); }, abort(reason) { seen.push(reason); } });
       const writer = stream.getWriter(); writer.write(1); writer.write(2); await writer.ready; await writer.close(); await writer.closed; seen.push(await writer.write(3).catch((e) => e.name));
       const bad = new WritableStream({ write() { throw new Error('full'); }, abort() { seen.push('never'); } }); seen.push(await ReadableStream.from([1, 2]).pipeTo(bad).catch((e) => e.message));
       await ReadableStream.from([7, 8]).pipeTo(new WritableStream({ write(chunk) { seen.push(chunk); } })); await new WritableStream({ abort(reason) { seen.push(reason); } }).abort('stop'); return seen`,
    );
  });
});

describe('Blob and File', () => {
  it('work as in Node', async () => {
    await expectSameAsNode(
      guest,
      `const blob = new Blob(['aé', new Uint8Array([66]), new Blob(['c'])], { type: 'Text/Plain' }); const file = new File([blob], 'n.txt', { type: 'a/b', lastModified: 7 }); const part = blob.slice(1, -1, 'x/y');
       return [blob.size, blob.type, await blob.text(), part.type, await part.text(), [...new Uint8Array(await blob.arrayBuffer())], file.name, file.size, file.type, file.lastModified, file instanceof Blob, await new Response(blob.stream()).text(), (await structuredClone(blob).text())]`,
    );
  });
});

describe('FormData', () => {
  it('keeps order and kinds as in Node', async () => {
    await expectSameAsNode(
      guest,
      `const form = new FormData(); form.append('a', 1); form.append('b', new Blob(['x']), 'f.bin'); form.append('a', 'two'); form.set('b', 'now text'); form.append('c', new File(['y'], 'g')); form.delete('none');
       return [[...form].map(([name, value]) => [name, typeof value === 'string' ? value : value.name]), form.getAll('a'), form.get('none'), form.has('c'), [...form.keys()]]`,
    );
  });

  it('reads forms that others wrote', async () => {
    const parts = [
      '--AaB',
      'Content-Disposition: form-data; name="x"',
      '',
      'one\r\ntwo',
      '--AaB',
      'content-disposition: form-data; name="f"; filename="a b.txt"',
      'Content-Type: text/csv',
      '',
      '1,2',
      '--AaB--',
      '',
    ];
    await expectSameAsNode(
      guest,
      `const r = new Response(${JSON.stringify(parts.join('\r\n'))}, { headers: { 'content-type': 'multipart/form-data; boundary="AaB"' } }); const form = await r.formData(); const file = form.get('f');
       const query = await new Response('a=1&b=%C3%A4', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }).formData(); return [form.get('x'), file.name, file.type, await file.text(), [...query]]`,
    );
  });

  it.each(['--AaB', '--AaB\r\nno header', 'nothing', '--AaB\r\n\r\nx\r\n--AaB--'])('refuses the broken form %j', async (body) => {
    const read = guest.run(
      `return new Response(${JSON.stringify(body)}, { headers: { 'content-type': 'multipart/form-data; boundary=AaB' } }).formData()`,
    );
    await expect(read).rejects.toMatchObject({ name: 'TypeError' });
  });
});

describe('Intl', () => {
  it.each([
    `new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }).format(-1234567.891)`,
    `[1, 2.5, 1e21, -0, NaN, Infinity, 10n ** 30n].map(new Intl.NumberFormat('en-IN').format)`,
    `new Intl.NumberFormat('fr').formatToParts(1234.5)`,
    `new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long', timeZone: 'Asia/Tokyo' }).format(new Date(1e12))`,
    `new Intl.DateTimeFormat('de', { timeZone: 'UTC' }).formatRange(0, new Date(1e12))`,
    `Intl.DateTimeFormat('en', { timeZone: 'UTC', hour: 'numeric' }).formatToParts(0)`,
    `Intl.DateTimeFormat().resolvedOptions().timeZone`,
    `[0, 1, 2, 5, 1.5].map((n) => new Intl.PluralRules('pl').select(n))`,
    `new Intl.PluralRules('en', { type: 'ordinal' }).select(22)`,
    `new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(-1, 'day')`,
    `new Intl.ListFormat('en', { type: 'disjunction' }).format(new Set(['a', 'b', 'c']))`,
    `['z', 'ä', 'a', 'Z'].sort(new Intl.Collator('sv').compare)`,
    `[...new Intl.Segmenter('en', { granularity: 'word' }).segment('Hi there!')].map((s) => [s.segment, s.index, s.isWordLike])`,
    `new Intl.DisplayNames('en', { type: 'region' }).of('DE')`,
    `new Intl.DurationFormat('en', { style: 'long' }).format({ hours: 1, minutes: 2 })`,
    `[new Intl.Locale('de-Latn-DE').language, String(new Intl.Locale('zh').maximize()), new Intl.Locale('en', { hourCycle: 'h23' }).hourCycle]`,
    `[Intl.getCanonicalLocales('EN-us'), Intl.NumberFormat.supportedLocalesOf(['de', 'xx']), Intl.supportedValuesOf('unit').length > 10]`,
    `[(1234.5).toLocaleString('de'), (123456789012345678901234567890n).toLocaleString('en'), (0.256).toLocaleString('en', { style: 'percent' })]`,
    `[new Date(0).toLocaleString('en-US', { timeZone: 'UTC' }), new Date(0).toLocaleDateString('de', { timeZone: 'UTC' }), new Date(0).toLocaleTimeString('en', { timeZone: 'UTC' }), new Date(NaN).toLocaleString()]`,
    `['b', 'a', 'B', 'ä'].sort((x, y) => x.localeCompare(y))`,
    `['i'.toLocaleUpperCase('tr'), 'I'.toLocaleLowerCase('tr'), 'ß'.toLocaleUpperCase(), 'a'.localeCompare('A', undefined, { sensitivity: 'base' })]`,
    `[1, 2, 3].toLocaleString()`,
  ])('%s', async (code) => {
    await expectSameAsNode(guest, `return ${code}`);
  });

  it.each([
    `new Intl.NumberFormat('not a locale')`,
    `new Intl.DateTimeFormat('en', { timeZone: 'Mars/One' })`,
    `new Intl.NumberFormat('en', { style: 'currency' })`,
    `new Intl.DateTimeFormat().format(NaN)`,
    `new Intl.PluralRules.prototype.select(1)`,
    `new Intl.Collator('en', { usage: 'x' })`,
  ])('refuses %s as Node does', async (code) => {
    await expectSameAsNode(guest, `try { ${code}; return 'fine'; } catch (error) { return error.name; }`);
  });

  it('says so when it is asked for too much', async () => {
    await expect(guest.run(`new Intl.Segmenter().segment('x'.repeat(200000))`)).rejects.toMatchObject({ name: 'RangeError' });
  });
});

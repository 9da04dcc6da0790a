import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../../src/conversation/answer.ts';
import { createAnswerCollector } from '../../../src/conversation/collect-answer.ts';
import type { ToolCallPart } from '../../../src/conversation/conversation.ts';
import { HotcellError } from '../../../src/errors/hotcell-error.ts';
import type { WireFormatName } from '../../../src/models/wire/wire-format.ts';
import { wireFormats } from '../../../src/models/wire/wire-formats.ts';
import { findStreamBreaches } from '../../conversation/stream-breaches.ts';
import { anyJson, anyText, fuzzParameters, fuzzTimeoutMs, seeded } from '../../promises/escape/fuzz.ts';
import { requestsOf } from './requests.ts';
import { answers, type Shape, shapes, streams, type UpstreamCall } from './upstreams.ts';

const names = Object.keys(wireFormats) as WireFormatName[];
const cases = names.map((name) => [name] as const);

const anyArguments = fc.dictionary(fc.oneof(fc.constantFrom('city', '__proto__', 'a"b'), fc.string({ maxLength: 6 })), anyJson, {
  maxKeys: 4,
});
/** Some models put spaces between what they write. */
const anyArgumentText = fc
  .tuple(anyArguments, fc.boolean())
  .map(([given, isWide]) => JSON.stringify(given, undefined, isWide ? 1 : 0));
const anyCalls = fc
  .array(fc.tuple(fc.constantFrom('weather', 'time', 'read_file'), anyArgumentText), { minLength: 1, maxLength: 4 })
  .map((calls) => calls.map(([name, text], index): UpstreamCall => ({ id: `call_${index}`, name, text })));
/** The fragments of Gemini are no pieces of text, so its upstream has these calls only whole. */
const anyShape = (from: WireFormatName) =>
  fc.constantFrom(
    ...shapes.filter((shape) => shape !== 'truncated' && shape !== 'empty' && (from !== 'gemini' || shape === 'whole')),
  );

function readStream(from: WireFormatName, text: string, cuts: readonly number[]): StreamEvent[] {
  const reader = wireFormats[from].createStreamReader();
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  const pieces = [0, ...places].map((start, index) => text.slice(start, places[index] ?? text.length));
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
}

function callsIn(events: readonly StreamEvent[]): ToolCallPart[] {
  const collector = createAnswerCollector();
  events.forEach(collector.push);
  return collector.answer().parts.filter((part) => part.type === 'tool-call');
}

function writeEverywhere(events: readonly StreamEvent[]): void {
  const collector = createAnswerCollector();
  events.forEach(collector.push);
  for (const name of names) {
    const writer = wireFormats[name].createStreamWriter();
    for (const event of events) writer.write(event);
    wireFormats[name].writeAnswer(collector.answer());
  }
}

const anyCuts = fc.array(fc.nat(), { maxLength: 12 });

describe.each(cases)('a stream of %s', (from) => {
  it(seeded('keeps every call, wherever it is cut into pieces'), { timeout: fuzzTimeoutMs() }, () => {
    const property = fc.property(anyCalls, anyShape(from), anyCuts, (calls, shape, cuts) => {
      const events = readStream(from, streams[from](shape, calls), cuts);
      expect(findStreamBreaches(events)).toEqual([]);
      expect(callsIn(events).map(({ id, name }) => ({ id, name }))).toEqual(calls.map(({ id, name }) => ({ id, name })));
      const values = callsIn(events).map((call) => (call.arguments.state === 'broken' ? call.arguments : call.arguments.value));
      expect(JSON.stringify(values)).toBe(JSON.stringify(calls.map(({ text }) => JSON.parse(text))));
    });
    fc.assert(property, fuzzParameters(120));
  });

  it(seeded('loses no call when it breaks off, and completes none'), { timeout: fuzzTimeoutMs() }, () => {
    const property = fc.property(anyCalls, anyShape(from), anyCuts, fc.nat(), (calls, shape, cuts, end) => {
      const whole = streams[from](shape, calls);
      const text = whole.slice(0, end % (whole.length + 1));
      const announced = text.split('\n\n').slice(0, -1).join('\n\n');
      const events = readStream(from, text, cuts);
      expect(findStreamBreaches(events)).toEqual([]);
      const found = callsIn(events);
      for (const call of calls) {
        const same = found.find(({ id }) => id === call.id);
        if (announced.includes(`"${call.id}"`)) expect(same?.name).toBe(call.name);
        if (same !== undefined && same.arguments.state !== 'broken') {
          expect(JSON.stringify(same.arguments.value)).toBe(JSON.stringify(JSON.parse(call.text)));
        }
      }
    });
    fc.assert(property, fuzzParameters(120));
  });

  it(seeded('that is damaged is read without a fault'), { timeout: fuzzTimeoutMs() }, () => {
    const damage = fc.record({
      at: fc.nat(),
      length: fc.nat({ max: 60 }),
      text: fc.oneof(
        anyText,
        anyJson.map((value) => JSON.stringify(value)),
      ),
    });
    const property = fc.property(
      anyCalls,
      anyShape(from),
      fc.array(damage, { minLength: 1, maxLength: 4 }),
      anyCuts,
      (calls, shape, damages, cuts) => {
        let text = streams[from](shape, calls);
        for (const { at, length, text: other } of damages) {
          const place = at % (text.length + 1);
          text = text.slice(0, place) + other + text.slice(place + length);
        }
        const events = readStream(from, text, cuts);
        expect(findStreamBreaches(events)).toEqual([]);
        writeEverywhere(events);
      },
    );
    fc.assert(property, fuzzParameters(120));
  });

  it(seeded('whose events have other values than expected is read without a fault'), { timeout: fuzzTimeoutMs() }, () => {
    const property = fc.property(
      anyCalls,
      anyShape(from),
      fc.infiniteStream(fc.nat()),
      anyJson,
      (calls, shape, choices, other) => {
        const events = streams[from](shape, calls)
          .split('\n\n')
          .map((block) => spoilEvent(block, choices, other));
        const read = readStream(from, events.join('\n\n'), []);
        expect(findStreamBreaches(read)).toEqual([]);
        writeEverywhere(read);
      },
    );
    fc.assert(property, fuzzParameters(120));
  });
});

/** Puts another value somewhere into one of five events. */
function spoilEvent(block: string, choices: Iterator<number>, other: unknown): string {
  const data = /^data: (\{.*)$/m.exec(block)?.[1];
  if (data === undefined || (choices.next().value ?? 0) % 5 !== 0) return block;
  return block.replace(data, () => JSON.stringify(spoil(JSON.parse(data), choices, other)));
}

function spoil(value: unknown, choices: Iterator<number>, other: unknown): unknown {
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const choice = choices.next().value ?? 0;
  const key = keys[choice % Math.max(1, keys.length)];
  if (key === undefined || choice % 7 === 0) return other;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...Object(value) };
  Object.assign(copy, { [key]: spoil(Object(value)[key], choices, other) });
  return copy;
}

describe.each(cases)('an answer of %s', (from) => {
  it(seeded('that has other values than expected is read without a fault'), { timeout: fuzzTimeoutMs() }, () => {
    const property = fc.property(
      anyCalls,
      fc.constantFrom<Shape>('whole', 'fragments'),
      fc.infiniteStream(fc.nat()),
      anyJson,
      (calls, shape, choices, other) => {
        const body = spoil(answers[from](shape, calls), choices, other);
        let answer: ReturnType<(typeof wireFormats)[typeof from]['readAnswer']>;
        try {
          answer = wireFormats[from].readAnswer(body);
        } catch (error) {
          expect(error instanceof HotcellError && error.code).toBe('model-failed');
          return;
        }
        for (const name of names) wireFormats[name].writeAnswer(answer);
      },
    );
    fc.assert(property, fuzzParameters(120));
  });
});

describe.each(cases)('a request of %s', (from) => {
  it(seeded('that has other values than expected is refused or read, and then written in every format'), {
    timeout: fuzzTimeoutMs(),
  }, () => {
    const property = fc.property(fc.infiniteStream(fc.nat()), anyJson, (choices, other) => {
      const [body] = requestsOf[from];
      let request: ReturnType<(typeof wireFormats)[typeof from]['readRequest']>;
      try {
        request = wireFormats[from].readRequest(spoil(body, choices, other), { model: 'm' });
      } catch (error) {
        expect(error instanceof HotcellError && error.code).toBe('body-invalid');
        return;
      }
      for (const name of names) wireFormats[name].writeRequest(request);
    });
    fc.assert(property, fuzzParameters(120));
  });
});

import { type Static, Type } from 'typebox';

const selector = Type.String({ minLength: 1, maxLength: 2000, description: 'CSS, or text=… or role=button[name="…"].' });
const actions = ['goto', 'click', 'type', 'press', 'select', 'wait', 'scroll', 'back', 'text', 'outline', 'screenshot'] as const;

/** One thing that a browser is to do. */
export const browserStep = Type.Object(
  {
    action: Type.Enum(actions, {
      description:
        'goto (url), click (selector), type (selector, text), press (key, selector?), select (selector, text), wait (selector), scroll, back; these answer: text (selector?), outline (what there is, with roles and names), screenshot (fullPage?).',
    }),
    url: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384, pattern: '^https?://', description: 'For goto.' })),
    selector: Type.Optional(selector),
    text: Type.Optional(Type.String({ maxLength: 100_000, description: 'What to type, or the option to select.' })),
    key: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Such as Enter, Tab, ArrowDown.' })),
    fullPage: Type.Optional(Type.Boolean({ description: 'The whole page, not only what is in view.' })),
  },
  { additionalProperties: false },
);

/** One thing that a browser is to do. */
export type BrowserStep = Readonly<Static<typeof browserStep>>;

/** What a step answers with. */
export type StepPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: 'image/jpeg' };

/** What the process that drives a browser is started with. */
export interface BrowserStart {
  /** Words before the arguments of the browser: its program last. */
  readonly command: readonly [string, ...string[]];
  /** The folder of its profile, which is its own. */
  readonly home: string;
  readonly hasSandbox: boolean;
  readonly proxy: { readonly port: number; readonly username: string; readonly password: string };
  readonly maxPages: number;
  readonly maxProcesses: number;
  readonly maxMemoryBytes: number;
}

/** What the daemon says to that process. */
export type BrowserOrder =
  | { readonly kind: 'start'; readonly start: BrowserStart }
  | { readonly kind: 'step'; readonly step: BrowserStep };

const place = { url: Type.String(), title: Type.String() };

/** What that process says: it is the daemon's own, and what it repeats comes from a page. */
export const browserNews = Type.Union([
  Type.Object({ kind: Type.Literal('ready') }),
  Type.Object({
    kind: Type.Literal('done'),
    ...place,
    part: Type.Optional(
      Type.Union([
        Type.Object({ type: Type.Literal('text'), text: Type.String() }),
        Type.Object({ type: Type.Literal('image'), data: Type.String(), mimeType: Type.Literal('image/jpeg') }),
      ]),
    ),
  }),
  Type.Object({ kind: Type.Literal('failed'), message: Type.String() }),
  Type.Object({ kind: Type.Literal('over'), what: Type.String() }),
]);

/** What that process says. */
export type BrowserNews = Static<typeof browserNews>;

import Type from 'typebox';
import { defaultSettings } from '../defaults.ts';
import type { FilledSection } from './filled.ts';

/** Mended and published by itself, proposed to a person, or left alone. */
export type RepairMode = 'auto' | 'propose' | 'off';

const defaults = defaultSettings.repair;
const hourMs = 3_600_000;
const repairModes = ['auto', 'propose', 'off'] as const;
/** The classes of failures that have a mode, with what holds when the config does not say. */
export const defaultRepairModes = {
  'does-not-compile': 'auto',
  'does-not-load': 'auto',
  'manifest-invalid': 'auto',
  'check-failed': 'propose',
  'runtime-error': 'propose',
  'limit-reached': 'propose',
} as const satisfies Readonly<Record<string, RepairMode>>;

function mode(value: RepairMode, description: string) {
  return Type.Optional(Type.Enum(repairModes, { default: value, description }));
}

function count(value: number, minimum: number, maximum: number, description: string) {
  return Type.Optional(Type.Integer({ minimum, maximum, default: value, description }));
}

const modeOfClass = (value: RepairMode) => Type.Optional(Type.Enum(repairModes, { default: value }));
const modeProperties = {
  'does-not-compile': modeOfClass(defaultRepairModes['does-not-compile']),
  'does-not-load': modeOfClass(defaultRepairModes['does-not-load']),
  'manifest-invalid': modeOfClass(defaultRepairModes['manifest-invalid']),
  'check-failed': modeOfClass(defaultRepairModes['check-failed']),
  'runtime-error': modeOfClass(defaultRepairModes['runtime-error']),
  'limit-reached': modeOfClass(defaultRepairModes['limit-reached']),
} as const satisfies Record<keyof typeof defaultRepairModes, unknown>;

/** The section `repair` of the config. */
export const repairProperties = {
  mode: Type.Optional(
    Type.Union([Type.Enum(repairModes), Type.Object(modeProperties, { additionalProperties: false })], {
      description:
        'Whether failures are mended: one word for all, or by class, `{ does-not-compile: auto, runtime-error: propose }`; `off` leaves them.',
    }),
  ),
  maybe: mode(defaults.maybe, 'The most that becomes of what a fixer only guesses.'),
  byModel: mode(defaults.byModel, 'The most that becomes of what a model proposes.'),
  model: Type.Optional(
    Type.String({
      maxLength: 256,
      default: defaults.model,
      description: 'The model that is asked when no fixer helps; empty for none.',
    }),
  ),
  write: Type.Optional(
    Type.Boolean({
      default: defaults.write,
      description: 'Writes what a repair published into the file, too, while nobody changed it.',
    }),
  ),
  maxAttempts: count(defaults.maxAttempts, 1, 100, 'Repairs of the same content of a plugin.'),
  backOffMs: count(
    defaults.backOffMs,
    0,
    24 * hourMs,
    'Time between two repairs of a plugin; twice as long after each that did not help.',
  ),
  tokensPerDay: count(
    defaults.tokensPerDay,
    0,
    1_000_000_000,
    'Tokens of models that the repairs of one plugin may use in a day.',
  ),
  costPerDay: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1_000_000,
      default: defaults.costPerDay,
      description: 'What the models for one plugin may cost in a day.',
    }),
  ),
  maxProposals: count(defaults.maxProposals, 1, 10_000, 'Proposals that may wait for a person.'),
  proposalMs: count(defaults.proposalMs, 60_000, 365 * 24 * hourMs, 'How long a proposal waits for a person.'),
  create: mode(defaults.create, 'What becomes of plugins that models write: published, proposed to a person, or refused.'),
  sources: Type.Optional(
    Type.Array(Type.String({ maxLength: 256 }), {
      maxItems: 100,
      default: [...defaults.sources],
      description:
        'Hosts from which models and repairs may read descriptions of APIs, such as `api.example.com`; none by itself.',
    }),
  ),
  healthMs: count(defaults.healthMs, 0, 24 * hourMs, 'Time between two health checks of a plugin that has one; 0 never checks.'),
  trialMs: count(defaults.trialMs, 1000, hourMs, 'How long all builds and calls of one trial may take together.'),
} as const;

/** How failed plugins are mended; classes of failures that `mode` does not name have the defaults. */
export type RepairSettings = Omit<FilledSection<typeof repairProperties>, 'mode'> & {
  readonly mode: RepairMode | Readonly<Partial<Record<keyof typeof defaultRepairModes, RepairMode>>>;
};

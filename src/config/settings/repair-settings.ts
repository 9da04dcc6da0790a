import Type from 'typebox';
import type { FilledSection } from './filled.ts';
import { choice, decimal, flag, list, text, whole } from './setting-kinds.ts';

/** Mended and published by itself, proposed to a person, or left alone. */
export type RepairMode = 'auto' | 'propose' | 'off';

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

const mode = (value: RepairMode, description?: string) => choice(repairModes, value, description);
const modeProperties = Object.fromEntries(
  Object.entries(defaultRepairModes).map(([name, value]) => [name, mode(value)]),
) as Record<keyof typeof defaultRepairModes, ReturnType<typeof mode>>;

/** The section `repair` of the config. */
export const repairProperties = {
  mode: Type.Optional(
    Type.Union([Type.Enum(repairModes), Type.Object(modeProperties, { additionalProperties: false })], {
      default: {},
      description:
        'Whether failures are mended: one word for all, or by class, `{ does-not-compile: auto, runtime-error: propose }`; `off` leaves them.',
    }),
  ),
  maybe: mode('propose', 'The most that becomes of what a fixer only guesses.'),
  byModel: mode('propose', 'The most that becomes of what a model proposes.'),
  model: text('', 'The model that is asked when no fixer helps; empty for none.'),
  write: flag(false, 'Writes what a repair published into the file, too, while nobody changed it.'),
  maxAttempts: whole(3, 1, 100, 'Repairs of the same content of a plugin.'),
  backOffMs: whole(30_000, 0, 24 * hourMs, 'Time between two repairs of a plugin; twice as long after each that did not help.'),
  tokensPerDay: whole(200_000, 0, 1_000_000_000, 'Tokens of models that the repairs of one plugin may use in a day.'),
  costPerDay: decimal(1, 0, 1_000_000, 'What the models for one plugin may cost in a day.'),
  maxProposals: whole(50, 1, 10_000, 'Proposals that may wait for a person.'),
  proposalMs: whole(30 * 24 * hourMs, 60_000, 365 * 24 * hourMs, 'How long a proposal waits for a person.'),
  create: mode('propose', 'What becomes of plugins that models write: published, proposed to a person, or refused.'),
  sources: list(
    Type.String({ maxLength: 256 }),
    100,
    [],
    'Hosts from which models and repairs may read descriptions of APIs, such as `api.example.com`; none by itself.',
  ),
  healthMs: whole(300_000, 0, 24 * hourMs, 'Time between two health checks of a plugin that has one; 0 never checks.'),
  trialMs: whole(120_000, 1000, hourMs, 'How long all builds and calls of one trial may take together.'),
} as const;

/** How failed plugins are mended; classes of failures that `mode` does not name have the defaults. */
export type RepairSettings = Omit<FilledSection<typeof repairProperties>, 'mode'> & {
  readonly mode: RepairMode | Readonly<Partial<Record<keyof typeof defaultRepairModes, RepairMode>>>;
};

import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { Config } from '../config/config-types.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { SecretRow, SecretTable } from '../store/tables/access/secrets.ts';
import { findNameFault, findValueFault, readBinding } from './binding.ts';
import { type ConfigSecret, readConfigSecrets } from './config-secrets.ts';
import { listPlaceholders, makePlaceholder } from './placeholders.ts';
import { createRedactor } from './redaction.ts';
import type { SecretKeeper, SecretView } from './secret-types.ts';

interface Entry extends ConfigSecret {
  readonly origin: SecretView['origin'];
  readonly updatedAtMs?: number;
}

const storedBinding = Compile(
  Type.Object({ hosts: Type.Array(Type.String()), header: Type.Optional(Type.String()), query: Type.Optional(Type.String()) }),
);

/**
 * Opens the secrets of the operator: those of the config and those of the store, the config's before the store's. Throws
 * `config-invalid`; what is there but cannot be used is told to `onProblem` and by `list`.
 */
export function createSecretRegistry(parts: {
  readonly table: SecretTable;
  readonly config: Config['secrets'];
  /** The environment of the daemon. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Epoch ms. */
  readonly now: () => number;
  /** Hears why a secret cannot be used, in a sentence. Must not throw. */
  readonly onProblem?: (sentence: string) => void;
}): SecretKeeper {
  const { table, now, onProblem = () => {} } = parts;
  const redactor = createRedactor();
  const key = table.placeholderKey();
  const entries = new Map<string, Entry>();
  let revision = 0;

  function put(entry: Entry): SecretView {
    entries.set(entry.name, entry);
    if (entry.value !== undefined) redactor.learn(entry.name, entry.value);
    if (entry.problem !== undefined) onProblem(`The secret ${entry.name} ${entry.problem}.`);
    revision++;
    return describe(entry);
  }

  function checkOwner(name: string): void {
    if (entries.get(name)?.origin !== 'config') return;
    throw new HotcellError('conflict', `The secret ${name} stands in the config.`, {
      fix: `Change secrets.${name} in the config and restart the daemon.`,
    });
  }

  for (const row of table.list()) put(readRow(row));
  for (const secret of readConfigSecrets(parts.config, parts.env)) put({ ...secret, origin: 'config' });

  return {
    get revision() {
      return revision;
    },
    has: (name) => entries.has(name),
    problemOf: (name) => entries.get(name)?.problem,
    placeholderOf: (executionId, name) => makePlaceholder(key, executionId, name),
    findIn(executionId, text) {
      const placeholders = listPlaceholders(text);
      if (placeholders.length === 0) return [];
      const byPlaceholder = new Map([...entries.values()].map((each) => [makePlaceholder(key, executionId, each.name), each]));
      return placeholders.map((placeholder) => {
        const { name, binding, value } = byPlaceholder.get(placeholder) ?? {};
        const isKnown = name !== undefined && binding !== undefined && value !== undefined;
        return isKnown ? { placeholder, secret: { name, binding, value } } : { placeholder };
      });
    },
    redactor,
    learn: redactor.learn,
    list: () => [...entries.values()].map(describe).sort((one, other) => (one.name < other.name ? -1 : 1)),
    set({ name, value, ...written }) {
      const nameFault = findNameFault(name);
      if (nameFault !== undefined) throw refuse(name, nameFault);
      checkOwner(name);
      const read = readBinding(written);
      if (!read.ok) throw refuse(name, read.reason);
      const { binding } = read;
      const fault = findValueFault(value, binding);
      if (fault !== undefined) throw refuse(name, fault);
      const updatedAtMs = now();
      table.set({ name, value, bindingJson: JSON.stringify(binding), updatedAtMs });
      return put({ name, value, binding, origin: 'store', updatedAtMs });
    },
    remove(name) {
      checkOwner(name);
      if (!table.remove(name)) return false;
      entries.delete(name);
      revision++;
      return true;
    },
  };
}

function readRow({ name, value, bindingJson, updatedAtMs }: SecretRow): Entry {
  const written: unknown = JSON.parse(bindingJson);
  const read = storedBinding.Check(written) ? readBinding(written) : undefined;
  const entry = { name, value, origin: 'store' as const, updatedAtMs };
  // The value is learnt in any case, so that it is redacted; without hosts it goes nowhere.
  return read?.ok
    ? { ...entry, binding: read.binding }
    : { ...entry, binding: { hosts: [] }, problem: 'has a binding that cannot be read' };
}

function describe({ name, binding, origin, problem, updatedAtMs }: Entry): SecretView {
  return {
    name,
    binding,
    origin,
    ...(problem !== undefined && { problem }),
    ...(updatedAtMs !== undefined && { updatedAtMs }),
  };
}

function refuse(name: string, reason: string): HotcellError {
  return new HotcellError('secret-invalid', `The secret ${JSON.stringify(name.slice(0, 128))} ${reason}.`);
}

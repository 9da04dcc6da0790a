import type { ApprovalView } from '../../operations/contracts/access/approvals.ts';
import { readForm } from '../../permissions/approvals/form.ts';
import { describeField, type FormField, findFieldFault } from '../../permissions/approvals/form-field.ts';
import { cleanUntrustedText } from '../../permissions/untrusted-text.ts';
import type { CliIo } from '../io.ts';

/** Whether a question asks for more than yes or no that a person at a terminal can say. */
export function hasForm({ kind, details }: Pick<ApprovalView, 'kind' | 'details'>): boolean {
  return kind === 'ask' && details.method === undefined;
}

/** Asks for the fields of a form one by one; an empty line takes the default, or leaves out. Undefined when nobody answers. */
export async function askForm(
  io: CliIo,
  { details }: Pick<ApprovalView, 'details'>,
  signal?: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const signals = AbortSignal.any([io.signal, signal].filter((each) => each !== undefined));
  const content: Record<string, unknown> = {};
  for (const field of readForm(details.schema).fields) {
    for (let note = ''; ; ) {
      const said = await io.ask?.(`${note}${sayField(field)}: `, signals);
      if (said === undefined) return undefined;
      const value = said.trim() === '' ? field.default : readValue(field, said.trim());
      if (value === undefined && !field.isRequired) break;
      const expected = value === undefined ? describeField(field) : findFieldFault(field, value);
      if (expected === undefined) {
        content[field.name] = value;
        break;
      }
      note = `Expected ${expected}.\n`;
    }
  }
  return content;
}

/** Words of a plugin stand cleaned; what they may not say for themselves, such as what fits, says the daemon. */
function sayField(field: FormField): string {
  const { name, title = name, description, isRequired } = field;
  const options = 'options' in field ? field.options.filter((each) => each.title !== each.value) : [];
  const titles = options.slice(0, 20).map((each) => `${JSON.stringify(each.value)} is ${each.title}`);
  const facts = [
    description,
    cleanUntrustedText(describeField(field)),
    ...titles,
    field.kind === 'choices' ? 'with commas between them' : undefined,
    field.default === undefined
      ? isRequired
        ? undefined
        : 'may be left empty'
      : `${JSON.stringify(field.default)} when left empty`,
  ];
  return `${title} (${facts.filter((fact) => fact !== undefined && fact !== '').join('; ')})`;
}

function readValue(field: FormField, said: string): unknown {
  switch (field.kind) {
    case 'boolean':
      return /^(?:y(?:es)?|true)$/i.test(said) ? true : /^(?:no?|false)$/i.test(said) ? false : said;
    case 'number':
      return Number(said);
    case 'choices':
      return said
        .split(',')
        .map((each) => each.trim())
        .filter((each) => each !== '');
    default:
      return said;
  }
}

import { randomBytes } from 'node:crypto';
import type { ApprovalRequest } from '../../permissions/approvals/approval-types.ts';
import type { Approvals } from '../../permissions/approvals/approvals.ts';
import { listSecrets } from '../../secrets/named-secrets.ts';
import { nameMcpUnit } from '../mcp-unit.ts';
import { compareDefinitions, hashAsked, type PinDecision, type Pinned, readMembers } from '../pins.ts';
import type { StdioPlan } from '../server-plan.ts';

/** Keeps at most one open question about a server. */
export type ServerQuestions = ReturnType<typeof createServerQuestions>;

/** Creates the questions about one server. */
export function createServerQuestions(server: string, approvals: Pick<Approvals, 'askIfRoom' | 'withdraw' | 'listOpen'>) {
  const unit = nameMcpUnit(server);
  let round = '';

  function withdrawOthers(askKey?: string): void {
    for (const each of approvals.listOpen('mcp')) {
      if (each.unitPath === unit && each.askKey !== askKey) approvals.withdraw(each.askKey);
    }
  }

  function ask(question: Pick<ApprovalRequest, 'question' | 'argumentsHash' | 'details'>): void {
    const askKey = `${unit}:${question.argumentsHash}${round}`;
    withdrawOthers(askKey);
    approvals.askIfRoom({ kind: 'mcp', reason: 'mcp', askKey, unitPath: unit, plugin: unit, ...question });
  }

  return {
    /** Asks whether the program may be started. */
    askCommand({ commandHash, command, args, env, cwd, image, net }: StdioPlan): void {
      const where = image === undefined ? 'with your rights on this machine' : 'in a container of this image';
      ask({
        question: `May the MCP server "${server}" be started as this program, ${where}?`,
        argumentsHash: commandHash,
        details: {
          server,
          command: [command, ...args],
          ...(image === undefined ? {} : { image, network: net.join(' ') || 'none' }),
          environment: Object.keys(env).join(' ') || 'none of its own',
          secrets: listSecrets(Object.values(env)).join(' ') || 'none',
          ...(cwd === undefined ? {} : { folder: cwd }),
        },
      });
    },
    /** Asks about what is new or changed. */
    askListed(decision: Pick<PinDecision, 'added' | 'changed'>, target: string): void {
      const { added, changed } = decision;
      const parts = [
        ...countKinds('new', added),
        ...countKinds(
          'changed',
          changed.map(({ now }) => now),
        ),
      ];
      ask({
        question: `May this of the MCP server "${server}" be used: ${parts.join(', ')}? What they say of themselves is the server's own text.`,
        argumentsHash: hashAsked(decision),
        details: {
          server,
          target,
          ...Object.fromEntries(added.map((each) => [`new ${sayName(each)}`, readMembers(each.definitionJson)])),
          ...Object.fromEntries(
            changed.map(({ now, before }) => [`changed ${sayName(now)}`, compareDefinitions(before, now.definitionJson)]),
          ),
        },
      });
    },
    /** Takes back whatever is open. */
    withdraw: (): void => withdrawOthers(),
    /** What was denied or ran out of time is asked again. */
    startOver(): void {
      round = `:${randomBytes(6).toString('hex')}`;
    },
  };
}

/** A tool by its name alone, everything else by what it is. */
function sayName({ kind, item }: Pinned): string {
  return kind === 'tool' ? item.slice('tool:'.length) : item.replace(':', ' ');
}

function countKinds(how: string, asked: readonly Pinned[]): string[] {
  return (['tool', 'prompt', 'resource'] as const).flatMap((kind) => {
    const count = asked.filter((each) => each.kind === kind).length;
    return count === 0 ? [] : [`${count} ${how} ${kind}${count === 1 ? '' : 's'}`];
  });
}

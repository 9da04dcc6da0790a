import { randomBytes } from 'node:crypto';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { ApprovalRequest, Approvals } from '../../permissions/approvals/approval-types.ts';
import { listSecrets } from '../../secrets/named-secrets.ts';
import { nameMcpUnit } from '../mcp-unit.ts';
import type { StdioPlan } from '../server-plan.ts';
import { compareDefinitions, hashAsked, type PinDecision, readMembers } from '../tools/pins.ts';

/** Keeps at most one open question about a server. */
export interface ServerQuestions {
  /** Asks whether the program may be started. */
  askCommand(plan: StdioPlan): void;
  /** Asks about tools that are new or changed. */
  askTools(
    decision: Pick<PinDecision, 'added' | 'changed'>,
    about: { readonly target: string; readonly offerings: readonly string[] },
  ): void;
  /** Takes back whatever is open. */
  withdraw(): void;
  /** What was denied or ran out of time is asked again. */
  startOver(): void;
}

const maxQuestions = 100_000;
const maxShownOfferings = 200;

/** Creates the questions about one server. */
export function createServerQuestions(server: string, approvals: Pick<Approvals, 'ask' | 'withdraw' | 'list'>): ServerQuestions {
  const unit = nameMcpUnit(server);
  let round = '';

  function withdrawOthers(askKey?: string): void {
    for (const each of approvals.list({ status: 'open', limit: maxQuestions })) {
      if (each.kind === 'mcp' && each.unitPath === unit && each.askKey !== askKey) approvals.withdraw(each.askKey);
    }
  }

  function ask(question: Pick<ApprovalRequest, 'question' | 'argumentsHash' | 'details'>): void {
    const askKey = `${unit}:${question.argumentsHash}${round}`;
    withdrawOthers(askKey);
    try {
      approvals.ask({ kind: 'mcp', reason: 'mcp', askKey, unitPath: unit, plugin: unit, ...question });
    } catch (error) {
      // Too many questions: the list of servers shows what waits all the same.
      if (!(error instanceof HotcellError && error.code === 'queue-full')) throw error;
    }
  }

  return {
    askCommand({ commandHash, command, args, env, cwd }) {
      ask({
        question: `May the MCP server "${server}" be started as this program, with your rights on this machine?`,
        argumentsHash: commandHash,
        details: {
          server,
          command: [command, ...args],
          environment: Object.keys(env).join(' ') || 'none of its own',
          secrets: listSecrets(Object.values(env)).join(' ') || 'none',
          ...(cwd === undefined ? {} : { folder: cwd }),
        },
      });
    },
    askTools(decision, { target, offerings }) {
      const { added, changed } = decision;
      const parts = [
        ...(added.length === 0 ? [] : [`${added.length} new tools`]),
        ...(changed.length === 0 ? [] : [`${changed.length} tools that changed since they were approved`]),
        ...(offerings.length === 0 ? [] : [`its ${offerings.length} prompts and resources`]),
      ];
      ask({
        question: `May this of the MCP server "${server}" be used: ${parts.join(', ')}? What they say of themselves is the server's own text.`,
        argumentsHash: hashAsked(decision, offerings.length > 0),
        details: {
          server,
          target,
          ...(offerings.length === 0 ? {} : { promptsAndResources: offerings.slice(0, maxShownOfferings) }),
          ...Object.fromEntries(added.map(({ name, definitionJson }) => [`new ${name}`, readMembers(definitionJson)])),
          ...Object.fromEntries(
            changed.map(({ tool, before }) => [`changed ${tool.name}`, compareDefinitions(before, tool.definitionJson)]),
          ),
        },
      });
    },
    withdraw: () => withdrawOthers(),
    startOver() {
      round = `:${randomBytes(6).toString('hex')}`;
    },
  };
}

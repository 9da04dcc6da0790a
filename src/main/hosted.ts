import type { CapabilityTable } from '../border/capability.ts';
import { createBuiltins } from '../builtins/builtins.ts';
import type { ToolDeskParts } from '../builtins/call-tool.ts';
import { createSkillBook, type SkillBook } from '../skills/skill-book.ts';
import type { HostedTools } from '../tools/hosted/hosted-tools.ts';
import type { Consents } from './consents.ts';
import type { Foundation } from './foundation.ts';

/** What tools of the daemon itself are made with. */
export interface HostedNeeds extends Pick<Consents, 'grants' | 'grantQuestions'> {
  readonly hosted: HostedTools;
  readonly native: CapabilityTable['native'];
  readonly desk: ToolDeskParts;
}

/** Turns on the built-ins that have images, and opens the book of skills, whose scripts follow what is granted. */
export function openHosted(
  { config, closers, events, logFault }: Foundation,
  needs: HostedNeeds,
): { readonly skills: SkillBook } {
  const { hosted, native, desk, grants, grantQuestions } = needs;
  for (const unit of createBuiltins({ config, native, desk })) hosted.put(unit);
  const skills = createSkillBook({ config, native, hosted, grants, onChange: grantQuestions.poke, onFault: logFault });
  closers.push(events.subscribe({ types: ['grant-change'] }, () => skills.regrant()));
  return { skills };
}

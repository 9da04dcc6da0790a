import type { CapabilityTable } from '../border/capability.ts';
import type { PluginAuthoring } from '../builtins/authoring.ts';
import { createBrowsers } from '../builtins/browser/browsers.ts';
import { createBuiltins } from '../builtins/builtins.ts';
import type { MetaToolParts } from '../builtins/call-tool.ts';
import type { CallScheduler } from '../calls/call-scheduler.ts';
import { readModelKey } from '../models/model-key.ts';
import type { NameRegistry } from '../names/name-registry.ts';
import { createSkillRegistry, type SkillRegistry } from '../skills/skill-registry.ts';
import type { HostedTools } from '../tools/hosted/hosted-tools.ts';
import { createRegisteredTools, type RegisteredTools } from '../tools/registered/registered-tools.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import { seesTool } from '../tools/seen-by-callers.ts';
import type { Consents } from './consents.ts';
import type { Foundation } from './foundation.ts';

/** What tools of the daemon itself are made with. */
export interface HostedNeeds extends Pick<Consents, 'grants' | 'grantQuestions'> {
  readonly hosted: HostedTools;
  readonly capabilities: Pick<CapabilityTable, 'native' | 'answer' | 'dial'>;
  readonly metaTools: MetaToolParts;
  readonly schedules: CallScheduler;
  readonly names: NameRegistry;
  readonly registry: ToolRegistry;
  readonly authoring: () => PluginAuthoring;
}

/** Turns on the built-ins that have images, and opens the book of skills, whose scripts follow what is granted. */
export function openHosted(
  { config, closers, openChecker, store, secrets, events, logFault }: Foundation,
  needs: HostedNeeds,
): { readonly skills: SkillRegistry; readonly registered: RegisteredTools } {
  const { hosted, capabilities, metaTools, schedules, names, registry, grants, grantQuestions, authoring } = needs;
  const { native, answer, dial } = capabilities;
  const checker = openChecker();
  closers.push(() => checker.close());
  const readKey = (name: string, url: string, header: string) =>
    readModelKey(name, url, { configured: config.env, secrets, processEnv: process.env }, header);
  const browsers = createBrowsers({ dial, settings: config.builtins.browser });
  if (config.builtins.tools.includes('browser')) {
    closers.push(() => browsers.close());
    closers.push(events.subscribe({ types: ['execution-end'] }, ({ subject }) => browsers.endCall(subject)));
  }
  for (const unit of createBuiltins({ config, authoring, native, answer, metaTools, checker, readKey, browsers, schedules }))
    hosted.put(unit);
  const skills = createSkillRegistry({ config, native, hosted, grants, onChange: grantQuestions.poke, onFault: logFault });
  closers.push(events.subscribe({ types: ['grant-change'] }, () => skills.regrant()));
  const registered = createRegisteredTools({
    table: store.registeredTools,
    hosted,
    names,
    resolve: (ref, by) => registry.resolve(ref, (entry) => seesTool(by, entry)),
    call: metaTools.call,
    answer,
    secrets,
    forgetGrants: grants.forget,
    now: Date.now,
    onFault: (error) => logFault(error),
  });
  registered.restore();
  return { skills, registered };
}

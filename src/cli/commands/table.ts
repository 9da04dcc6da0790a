import { registerApprove } from './approve.ts';
import { registerAudit } from './audit.ts';
import { registerBuild } from './build.ts';
import { registerCall } from './call.ts';
import type { RegisterCommand } from './command.ts';
import { registerConfig } from './config.ts';
import { registerContainers } from './containers.ts';
import { registerDoctor } from './doctor.ts';
import { registerExecutions } from './executions.ts';
import { registerGrant } from './grant.ts';
import { registerHook } from './hook.ts';
import { registerImages } from './images.ts';
import { registerInit } from './init.ts';
import { registerKey } from './key.ts';
import { registerKv } from './kv.ts';
import { registerModels } from './models.ts';
import { registerPlugin } from './plugin.ts';
import { registerSecret } from './secret.ts';
import { registerSkill } from './skill.ts';
import { registerStart } from './start.ts';
import { registerTool } from './tool.ts';
import { registerWhy } from './why.ts';

/** All commands, in the order of the help. */
export const commands: readonly RegisterCommand[] = [
  registerStart,
  registerCall,
  registerWhy,
  registerPlugin,
  registerTool,
  registerGrant,
  registerApprove,
  registerExecutions,
  registerKey,
  registerAudit,
  registerSecret,
  registerModels,
  registerKv,
  registerBuild,
  registerImages,
  registerContainers,
  registerSkill,
  registerHook,
  registerConfig,
  registerDoctor,
  registerInit,
];

/** The prelude: evaluated once into the base image, before any plugin. Leaves its entry points for the host to take. */
import { installClock } from './clock.ts';
import { endCall, enter, load, runHook, settle } from './core.ts';
import { installWebApi } from './web/install.ts';

const scope = globalThis as Record<string, unknown>;
delete scope.host;
installClock();
installWebApi();
scope.__hotcellEntry = { load, enter, settle, runHook, endCall };

/** The prelude: evaluated once into the base image, before any plugin. Leaves its entry points for the host to take. */
import { installClock } from './clock.ts';
import { endCall, enter, load, noteLack, runHook, settle } from './core.ts';
import { trackRejection } from './rejections.ts';
import { provideConverter } from './result.ts';
import { loadModule } from './web/define.ts';
import { Body } from './web/fetch/body.ts';
import { Headers } from './web/fetch/headers.ts';
import { installWebApi } from './web/install.ts';
import { URLSearchParams } from './web/url/url-search-params.ts';

const scope = globalThis as Record<string, unknown>;
delete scope.host;
installClock();
installWebApi();
provideConverter(() => loadModule('results').convert, [Body.prototype, Headers.prototype, URLSearchParams.prototype]);
Object.defineProperty(scope, Symbol.for('hotcell.noteLack'), { value: noteLack });
scope.__hotcellEntry = { load, enter, settle, runHook, endCall, trackRejection };

import { createCompiler } from '../src/plugins/compile/compile.ts';
import { createSchemaReader } from '../src/plugins/schema/schema-process.ts';

// The bundler's process ends with the last compiler that is closed: this one is none of a daemon.
createCompiler({ sharedDirs: [], builtins: new Map(), refusedBuiltins: new Map() });

/** Reads types for all daemons of a process of tests: one of its own costs a daemon as much as all else of its start. */
export const sharedReader = createSchemaReader();

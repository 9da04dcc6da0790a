import type { Config } from '../../../config/config-types.ts';
import { resolveLimits } from '../../../config/limits.ts';
import { nodeBuiltins, nodeStandIns, readShapesModule, refusedBuiltins } from '../../../guests/node-builtins.ts';
import { readOwnZod } from '../../../guests/own-zod.ts';
import { createCompiler } from '../../../plugins/compile/compile.ts';
import { createSchemaReader } from '../../../plugins/schema/schema-process.ts';
import type { SchemaReader } from '../../../plugins/schema/schema-types.ts';
import { createBuilder } from '../../../plugins/supervisor/build/build.ts';

type BuilderParts = Parameters<typeof createBuilder>[0];

/** What differs between the builds of a daemon and those of a command. */
export interface PluginBuilderParts extends Pick<BuilderParts, 'engines' | 'refuseEngine' | 'escalation'> {
  readonly config: Config;
  /** Takes what is to be closed after the builder, in the order in which it was opened. */
  readonly closers: { push(close: () => Promise<void>): unknown };
  /** Belongs to whoever hands it over. */
  readonly schemaReader?: SchemaReader | undefined;
}

/** Opens what turns the source of a plugin into a generation. */
export function openPluginBuilder({
  config,
  closers,
  schemaReader,
  ...parts
}: PluginBuilderParts): ReturnType<typeof createBuilder> {
  const compiler = createCompiler({
    sharedDirs: config.sharedDirs,
    builtins: nodeBuiltins,
    standIns: nodeStandIns,
    refusedBuiltins,
    readShapes: readShapesModule,
    readOwnZod,
  });
  closers.push(async () => compiler.close());
  const reader = schemaReader ?? createSchemaReader();
  if (schemaReader === undefined) closers.push(async () => reader.close());
  return createBuilder({
    ...parts,
    compiler,
    schemaReader: reader,
    get limits() {
      return resolveLimits(config.limits);
    },
  });
}

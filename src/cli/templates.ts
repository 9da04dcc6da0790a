/** A plugin to start from: typed, with an example that `hotcell plugin test` runs. */
export function pluginTemplate(name: string): string {
  return `import type { Context } from 'hotcell';

interface Arguments {
  /** The text to count in. */
  text: string;
  /** Count each word once. */
  unique?: boolean;
}

export default {
  name: '${name}',
  version: '0.1.0',
  // A model reads this to decide when to call the tool: say what it does and when to use it.
  description: 'Counts the words of a text. Use when someone asks how long a text is.',
  // What the handler may touch beyond its arguments, such as { net: ['api.example.com'], kv: true }.
  permissions: {},
  examples: [{ args: { text: 'two words' }, expect: { words: 2 } }],
  handler: async ({ text, unique = false }: Arguments, context: Context) => {
    const words = text.split(/\\s+/).filter((word) => word !== '');
    context.log.info(\`counted \${words.length} words\`);
    return { words: unique ? new Set(words).size : words.length };
  },
};
`;
}

/** A config file that says what it could say. */
export const configTemplate = `# Settings of Hotcell; every key is optional. All of them: hotcell docs configuration, or hotcell config schema.
pluginDirs: [plugins]
skillDirs: [skills]

# What plugins may do, by the name of the plugin:
# grants:
#   weather:
#     net: [api.example.com]

# What context.config.get answers, by the name of the plugin:
# plugins:
#   weather:
#     units: metric
`;

/** For editors only: Hotcell itself never reads it. The types are those that `hotcell init` writes: the package may be elsewhere. */
export const tsconfigTemplate = `{
  "compilerOptions": {
    "target": "es2024",
    "lib": ["es2024", "dom"],
    "module": "preserve",
    "moduleResolution": "bundler",
    "strict": true,
    "noEmit": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true,
    "paths": { "hotcell": ["./types/hotcell/plugin"] }
  },
  "include": ["plugins"]
}
`;

/** What does not belong into version control. */
export const ignoredLines: readonly string[] = ['.hotcell/', 'node_modules/'];

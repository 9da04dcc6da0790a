import type { AgentCard } from '@a2a-js/sdk';

/** Where agents of A2A speak to the daemon. */
const a2aPath = '/a2a';
/** What they speak. */
const a2aVersion = '1.0';

const skill = { tags: ['tools'], inputModes: ['application/json'], outputModes: ['application/json'], securityRequirements: [] };

/** What everybody may know: which tools there are is for those who show a key. */
export function describeAgent(origin: string, version: string): AgentCard {
  return {
    name: 'Hotcell',
    description: 'Runs tools in sandboxes.',
    version,
    provider: undefined,
    supportedInterfaces: [{ url: `${origin}${a2aPath}`, protocolBinding: 'JSONRPC', protocolVersion: a2aVersion, tenant: '' }],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    securitySchemes: {
      key: {
        scheme: {
          $case: 'httpAuthSecurityScheme',
          value: { scheme: 'bearer', bearerFormat: '', description: 'A key of the daemon: hotcell key create --name NAME' },
        },
      },
    },
    securityRequirements: [{ schemes: { key: { list: [] } } }],
    defaultInputModes: ['application/json', 'text/plain'],
    defaultOutputModes: ['application/json', 'text/plain'],
    skills: [
      {
        ...skill,
        id: 'list-capabilities',
        name: 'List capabilities',
        description: 'Answers the tools that the key may call, with the schemas of their arguments.',
        examples: ['list-capabilities'],
      },
      {
        ...skill,
        id: 'call-tool',
        name: 'Call a tool',
        description: 'A task that calls one tool: send a data part with its name and arguments.',
        examples: ['{"tool": "text_stats", "arguments": {"text": "one two"}}'],
      },
    ],
    signatures: [],
  };
}

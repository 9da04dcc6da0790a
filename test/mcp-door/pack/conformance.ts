/** What the conformance suite of MCP expects a server to have: its tools, as a plugin. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export default {
  name: 'conformance',
  version: '1.0.0',
  description: 'The tools of the conformance suite.',
  tools: {
    test_simple_text: {
      description: 'Answers with a text.',
      handler: () => 'This is a simple text response for testing.',
    },
    test_custom_header: {
      description: 'Answers what it was told, also in a header.',
      parameters: {
        type: 'object',
        properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
        required: ['region'],
      },
      handler: ({ region }: { region: string }) => region,
    },
    test_image_content: {
      description: 'Answers with a picture.',
      handler: () => ({ type: 'image', mediaType: 'image/png', data: png }),
    },
    test_audio_content: {
      description: 'Answers with a sound.',
      handler: () => ({ type: 'audio', mediaType: 'audio/wav', data: wav }),
    },
    test_embedded_resource: {
      description: 'Answers with a resource.',
      handler: () => ({
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      }),
    },
    test_multiple_content_types: {
      description: 'Answers with parts of several types.',
      handler: () => [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', mediaType: 'image/png', data: png },
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: '{"test":"data","value":123}',
          },
        },
      ],
    },
    test_tool_with_logging: {
      description: 'Logs while it works.',
      handler: async (_args: object, context: { log: { info(text: string): void } }) => {
        context.log.info('Tool execution started');
        await pause(50);
        context.log.info('Tool processing data');
        await pause(50);
        context.log.info('Tool execution completed');
        return 'Logged three lines.';
      },
    },
    test_tool_with_progress: {
      description: 'Tells how far it is.',
      handler: async (_args: object, context: { progress(done: number, total: number): void }) => {
        for (const done of [0, 50, 100]) {
          context.progress(done, 100);
          await pause(50);
        }
        return 'Done.';
      },
    },
    test_error_handling: {
      description: 'Always fails.',
      handler: () => {
        throw new Error('This tool intentionally returns an error for testing');
      },
    },
    json_schema_2020_12_tool: {
      description: 'Tool with JSON Schema 2020-12 features',
      parameters: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: {
          address: {
            $anchor: 'addressDef',
            type: 'object',
            properties: { street: { type: 'string' }, city: { type: 'string' } },
          },
        },
        properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
        allOf: [{ anyOf: [{ required: ['name'] }, { required: ['address'] }] }],
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        ...{ if: { required: ['address'] }, then: { required: ['name'] }, else: {} },
        additionalProperties: false,
      },
      handler: (args: object) => args,
    },
    greet: {
      description: 'Greets at once.',
      parameters: { type: 'object', properties: { name: { type: 'string' } } },
      handler: ({ name }: { name: string }) => `Hello, ${name}!`,
    },
    slow_compute: {
      description: 'Takes as many seconds as it is told to.',
      timeoutMs: 120_000,
      parameters: { type: 'object', properties: { seconds: { type: 'number' }, label: { type: 'string' } } },
      handler: async ({ seconds = 1, label = '' }: { seconds?: number; label?: string }) => {
        await pause(seconds * 1000);
        return `Computed ${label} in ${seconds} seconds.`;
      },
    },
    failing_job: {
      description: 'Fails after a second.',
      task: 'required',
      handler: async () => {
        await pause(1000);
        throw new Error('The job failed.');
      },
    },
    protocol_error_job: {
      description: 'Is ended after a second, for all the memory that it takes.',
      handler: async () => {
        await pause(1000);
        const kept: string[] = [];
        for (;;) kept.push('x'.repeat(1_000_000) + kept.length);
      },
    },
  },
  prompts: {
    test_simple_prompt: { description: 'Without arguments.', handler: () => 'This is a simple prompt for testing.' },
    test_prompt_with_arguments: {
      description: 'With arguments.',
      arguments: {
        arg1: { description: 'First test argument', required: true, complete: ['paris', 'park', 'party'] },
        arg2: { description: 'Second test argument', required: true },
      },
      handler: ({ arg1, arg2 }: { arg1: string; arg2: string }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
    },
    test_prompt_with_embedded_resource: {
      description: 'With a resource in it.',
      arguments: { resourceUri: { description: 'URI of the resource to embed', required: true } },
      handler: ({ resourceUri }: { resourceUri: string }) => [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
          },
        },
        { role: 'user', content: { type: 'text', text: 'Please process the embedded resource above.' } },
      ],
    },
    test_prompt_with_image: {
      description: 'With a picture in it.',
      handler: () => [
        { role: 'user', content: { type: 'image', data: png, mimeType: 'image/png' } },
        { role: 'user', content: { type: 'text', text: 'Please analyze the image above.' } },
      ],
    },
  },
  resources: {
    static_text: {
      uri: 'test://static-text',
      description: 'A text.',
      mimeType: 'text/plain',
      read: () => 'This is the content of the static text resource.',
    },
    static_binary: {
      uri: 'test://static-binary',
      description: 'Bytes.',
      mimeType: 'image/png',
      read: () => ({ blob: png, mimeType: 'image/png' }),
    },
    watched: { uri: 'test://watched-resource', description: 'To be watched.', mimeType: 'text/plain', read: () => 'watched' },
    template: {
      uriTemplate: 'test://template/{id}/data',
      description: 'Data by its id.',
      mimeType: 'application/json',
      read: ({ id }: { id: string }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    },
  },
};

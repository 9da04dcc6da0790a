/** What the conformance suite of MCP expects a server to ask its clients. */
interface Context {
  ask(form: object): Promise<{ action: string; content?: Record<string, unknown> }>;
  log: { info(text: string): void };
  progress(done: number, total: number): void;
  client: {
    createMessage(params: object): Promise<{ content: { text?: string } }>;
    listRoots(): Promise<{ roots: unknown[] }>;
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const askName = (context: Context, name: string, message = 'What is your name?') =>
  context.ask({ name, message, schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } });
const sample = (text: string, maxTokens = 100) => ({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens });
const confirmForm = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
const show = ({ action, content }: { action: string; content?: unknown }) =>
  `action=${action}, content=${JSON.stringify(content ?? {})}`;

export default {
  name: 'questions',
  version: '1.0.0',
  description: 'The tools of the conformance suite that ask.',
  tools: {
    test_elicitation: {
      description: 'Asks for a name and an address.',
      parameters: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
      handler: async ({ message }: { message: string }, context: Context) =>
        `User response: ${show(
          await context.ask({
            message,
            schema: {
              type: 'object',
              properties: {
                username: { type: 'string', description: "User's response" },
                email: { type: 'string', description: "User's email address" },
              },
              required: ['username', 'email'],
            },
          }),
        )}`,
    },
    test_elicitation_sep1034_defaults: {
      description: 'Asks with defaults.',
      handler: async (_args: object, context: Context) =>
        `Elicitation completed: ${show(
          await context.ask({
            message: 'Please check these.',
            schema: {
              type: 'object',
              properties: {
                name: { type: 'string', default: 'John Doe' },
                age: { type: 'integer', default: 30 },
                score: { type: 'number', default: 95.5 },
                status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
                verified: { type: 'boolean', default: true },
              },
            },
          }),
        )}`,
    },
    test_elicitation_sep1330_enums: {
      description: 'Asks to choose.',
      handler: async (_args: object, context: Context) =>
        `Elicitation completed: ${show(
          await context.ask({
            message: 'Please choose.',
            schema: {
              type: 'object',
              properties: {
                untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
                titledSingle: {
                  type: 'string',
                  oneOf: [
                    { const: 'value1', title: 'First Option' },
                    { const: 'value2', title: 'Second Option' },
                  ],
                },
                legacyEnum: {
                  type: 'string',
                  enum: ['opt1', 'opt2', 'opt3'],
                  enumNames: ['Option One', 'Option Two', 'Option Three'],
                },
                untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
                titledMulti: {
                  type: 'array',
                  items: {
                    anyOf: [
                      { const: 'value1', title: 'First Choice' },
                      { const: 'value2', title: 'Second Choice' },
                    ],
                  },
                },
              },
            },
          }),
        )}`,
    },
    test_sampling: {
      description: 'Asks the model of the client.',
      parameters: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
      handler: async ({ prompt }: { prompt: string }, context: Context) =>
        `LLM response: ${(await context.client.createMessage(sample(prompt))).content.text}`,
    },
    test_missing_capability: {
      description: 'Needs a client with a model.',
      handler: async (_args: object, context: Context) => (await context.client.createMessage(sample('Hello'))).content.text,
    },
    test_streaming_elicitation: {
      description: 'Tells how far it is, then asks.',
      handler: async (_args: object, context: Context) => {
        context.progress(1, 2);
        return show(await askName(context, 'user_name'));
      },
    },
    test_logging_tool: {
      description: 'Logs.',
      handler: async (_args: object, context: Context) => {
        context.log.info('A line.');
        await pause(20);
        return 'Logged.';
      },
    },
    test_trigger_tool_change: { description: 'Has the tools change.', handler: () => 'Soon.' },
    test_trigger_prompt_change: { description: 'Has the prompts change.', handler: () => 'Soon.' },
    test_input_required_result_elicitation: {
      description: 'Asks for a name.',
      handler: async (_args: object, context: Context) => `Hello, ${(await askName(context, 'user_name')).content?.name}!`,
    },
    test_input_required_result_sampling: {
      description: 'Asks a model.',
      handler: async (_args: object, context: Context) =>
        (await context.client.createMessage(sample('What is the capital of France?'))).content.text,
    },
    test_input_required_result_list_roots: {
      description: 'Asks for folders.',
      handler: async (_args: object, context: Context) => JSON.stringify((await context.client.listRoots()).roots),
    },
    test_input_required_result_request_state: {
      description: 'Asks for a yes.',
      handler: async (_args: object, context: Context) => {
        await context.ask({ name: 'confirm', message: 'Please confirm', schema: confirmForm });
        return 'state-ok';
      },
    },
    test_input_required_result_tampered_state: {
      description: 'Asks for a yes.',
      handler: async (_args: object, context: Context) =>
        show(await context.ask({ name: 'confirm', message: 'Please confirm', schema: confirmForm })),
    },
    test_input_required_result_multiple_inputs: {
      description: 'Asks for three things at once.',
      handler: async (_args: object, context: Context) => {
        const [name, greeting, roots] = await Promise.all([
          askName(context, 'user_name'),
          context.client.createMessage(sample('Generate a greeting', 50)),
          context.client.listRoots(),
        ]);
        return JSON.stringify({ name, greeting, roots });
      },
    },
    test_input_required_result_multi_round: {
      description: 'Asks for two things one after the other.',
      handler: async (_args: object, context: Context) => {
        const first = await askName(context, 'step1', 'Step 1: What is your name?');
        const second = await context.ask({
          name: 'step2',
          message: 'Step 2: What is your favorite color?',
          schema: { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] },
        });
        return JSON.stringify([first, second]);
      },
    },
    test_input_required_result_capabilities: {
      description: 'Asks for whatever the client can.',
      handler: async (_args: object, context: Context) =>
        JSON.stringify(await Promise.all([askName(context, 'user_name'), context.client.createMessage(sample('Hello'))])),
    },
    confirm_delete: {
      description: 'Asks after a while.',
      handler: async (_args: object, context: Context) => {
        await pause(600);
        const schema = { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] };
        return show(await context.ask({ name: 'confirm', message: 'Delete it?', schema }));
      },
    },
    multi_input: {
      description: 'Asks two things after a while.',
      handler: async (_args: object, context: Context) => {
        await pause(600);
        const schema = {
          type: 'object',
          properties: { name: { type: 'string' }, confirm: { type: 'boolean' } },
          required: ['name'],
        };
        const ask = (name: string) => context.ask({ name, message: 'Who?', schema });
        return JSON.stringify(await Promise.all([ask('first'), ask('second')]));
      },
    },
    test_tool_with_task: {
      description: 'Asks at once, and takes its time then.',
      task: 'required',
      handler: async (_args: object, context: Context) => {
        const { content } = await askName(context, 'user_name');
        await pause(1000);
        return `Done for ${content?.name}.`;
      },
    },
  },
  prompts: {
    test_input_required_result_prompt: {
      description: 'Asks what it is about.',
      handler: async (_args: object, context: Context) => {
        const { content } = await context.ask({
          name: 'user_context',
          message: 'What context should the prompt use?',
          schema: { type: 'object', properties: { context: { type: 'string' } }, required: ['context'] },
        });
        return `Use the context ${content?.context}.`;
      },
    },
  },
};

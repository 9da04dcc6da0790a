import { omitUndefined } from '../../../config/json-object.ts';
import { type JsonObject, keep, keptOf, type Message, type Part, type TextPart } from '../../../conversation/conversation.ts';
import type {
  ConversationRequest,
  ReasoningWish,
  ResponseShape,
  ToolChoice,
  ToolDeclaration,
} from '../../../conversation/request.ts';
import {
  compact,
  describeWrong,
  flagIn,
  listIn,
  nonEmpty,
  numberIn,
  objectIn,
  objectsIn,
  requireObject,
  requireObjects,
  textIn,
} from '../json-fields.ts';
import { fitForProvider } from '../provider-request.ts';
import { freeTextSchema, readOpenApiSchema, writeNativeTools } from '../tool-declarations.ts';
import type { RequestAddress, Written } from '../wire-format.ts';
import { createLosses, type Losses } from '../writing.ts';
import { readGeminiPart, writeGeminiParts } from './parts.ts';

const format = 'gemini';

/** Reads the body of `POST /v1beta/models/MODEL:generateContent`; the model stands in the address. */
export function readGeminiRequest(given: unknown, { model, isStreamed = false }: RequestAddress = {}): ConversationRequest {
  const {
    contents,
    systemInstruction,
    system_instruction,
    tools,
    toolConfig,
    generationConfig,
    model: named,
    ...rest
  } = requireObject(given, 'body');
  const chosen = model ?? textIn(named)?.replace(/^models\//, '');
  if (chosen === undefined) throw describeWrong('model', 'the name of a model in the address', undefined);
  const { temperature, topP, topK, seed, frequencyPenalty, presencePenalty, stopSequences, ...config } =
    objectIn(generationConfig);
  const { maxOutputTokens, candidateCount, responseMimeType, responseSchema, responseJsonSchema, thinkingConfig, ...others } =
    config;
  if (typeof candidateCount === 'number' && candidateCount !== 1)
    throw describeWrong('generationConfig.candidateCount', '1', candidateCount);
  const { functionCallingConfig, ...configOfTools } = objectIn(toolConfig);
  const { mode, allowedFunctionNames, ...configOfCalls } = objectIn(functionCallingConfig);
  const stops = listIn(stopSequences).filter((entry) => typeof entry === 'string');
  const native = objectsIn(tools).map(({ functionDeclarations, function_declarations, ...tool }) => tool);
  // What is turned into something neutral that says less is kept beside it.
  const kept = compact({
    ...rest,
    toolConfig: nonEmpty(configOfTools),
    calls: nonEmpty({ ...configOfCalls, mode: mode === 'VALIDATED' ? mode : undefined }),
    generationConfig: nonEmpty(others),
    thinkingConfig,
    responseSchema: responseJsonSchema === undefined ? responseSchema : undefined,
  });
  return {
    model: chosen,
    system: readSystem(systemInstruction ?? system_instruction),
    messages: readContents(requireObjects(contents, 'contents')),
    tools: objectsIn(tools).flatMap((tool) => objectsIn(tool.functionDeclarations ?? tool.function_declarations).map(readTool)),
    nativeTools: native.filter((tool) => Object.keys(tool).length > 0).map((value) => ({ format, value })),
    sampling: omitUndefined({
      temperature: numberIn(temperature),
      topP: numberIn(topP),
      topK: numberIn(topK),
      seed: numberIn(seed),
      frequencyPenalty: numberIn(frequencyPenalty),
      presencePenalty: numberIn(presencePenalty),
      stopSequences: stops.length === 0 ? undefined : stops,
    }),
    isStreamed,
    ...omitUndefined({
      toolChoice: readChoice(objectIn(functionCallingConfig)),
      responseShape: readShape(textIn(responseMimeType), responseJsonSchema ?? responseSchema),
      reasoning: readReasoning(objectIn(thinkingConfig)),
      maxTokens: numberIn(maxOutputTokens),
    }),
    ...keep(format, kept),
  };
}

function readSystem(instruction: unknown): TextPart[] {
  if (typeof instruction === 'string') return [{ type: 'text', text: instruction }];
  const parts = objectsIn(objectIn(instruction).parts).map((part) => readGeminiPart(part));
  return parts.filter((part) => part.type === 'text');
}

/** Ids may be missing there: a result then answers the first call of its tool that has none. */
function readContents(contents: readonly JsonObject[]): Message[] {
  const waiting: { id: string; name: string }[] = [];
  return contents.flatMap((content, position): Message[] => {
    const { role, parts, ...rest } = content;
    const read = requireObjects(parts ?? [], `contents[${position}].parts`).map((part, index): Part => {
      const one = readGeminiPart(part);
      if (one.type === 'tool-call') {
        const id = one.id || `call_${position}_${index}`;
        waiting.push({ id, name: one.name });
        return { ...one, id };
      }
      if (one.type !== 'tool-result') return one;
      const found = waiting.findIndex(({ id, name }) => (one.callId === '' ? name === one.name : id === one.callId));
      const [call] = found === -1 ? [] : waiting.splice(found, 1);
      return { ...one, callId: one.callId || (call?.id ?? `call_${one.name ?? ''}`) };
    });
    const extras = keep(format, rest);
    if (role === 'model') return [{ role: 'assistant', parts: read, ...extras }];
    const results = read.filter(({ type }) => type === 'tool-result');
    const said = read.filter(({ type }) => type !== 'tool-result');
    const answered: Message[] = results.length === 0 ? [] : [{ role: 'tool', parts: results, ...extras }];
    if (said.length === 0 && answered.length > 0) return answered;
    const speaker = role === 'system' ? 'system' : 'user';
    return [...answered, { role: speaker, parts: said, ...extras }];
  });
}

function readTool({ name, description, parameters, parametersJsonSchema, ...rest }: JsonObject): ToolDeclaration {
  const schema =
    parametersJsonSchema ?? (parameters === undefined ? { type: 'object' } : readOpenApiSchema(objectIn(parameters)));
  return {
    name: textIn(name) ?? '',
    parameters: objectIn(schema),
    ...omitUndefined({ description: textIn(description) }),
    // The dialect is put back as it came: it says more than it is turned into.
    ...keep(format, parameters === undefined ? rest : { parameters, ...rest }),
  };
}

function readChoice({ mode, allowedFunctionNames }: JsonObject): ToolChoice | undefined {
  const names = listIn(allowedFunctionNames).filter((name) => typeof name === 'string');
  const [only] = names;
  if (mode === 'NONE') return { kind: 'none' };
  if (mode === 'ANY' && names.length === 1 && only !== undefined) return { kind: 'tool', name: only };
  if (names.length > 0) return { kind: 'some', names, mode: mode === 'ANY' ? 'required' : 'auto' };
  return mode === 'ANY' ? { kind: 'required' } : mode === 'AUTO' || mode === 'VALIDATED' ? { kind: 'auto' } : undefined;
}

function readShape(mimeType: string | undefined, schema: unknown): ResponseShape | undefined {
  if (mimeType !== 'application/json') return mimeType === 'text/plain' ? { kind: 'text' } : undefined;
  return schema === undefined ? { kind: 'json' } : { kind: 'json-schema', schema: readOpenApiSchema(objectIn(schema)) };
}

function readReasoning({ thinkingBudget, thinkingLevel, includeThoughts }: JsonObject): ReasoningWish | undefined {
  const level = textIn(thinkingLevel)?.toLowerCase();
  const effort = thinkingBudget === 0 ? 'none' : level;
  const budget = numberIn(thinkingBudget);
  const wish = omitUndefined({ effort, maxTokens: budget === 0 ? undefined : budget, isShown: flagIn(includeThoughts) });
  return Object.keys(wish).length === 0 ? undefined : wish;
}

/** Writes a request for `generateContent`, or `streamGenerateContent`. */
export function writeGeminiRequest(asked: ConversationRequest): Written<JsonObject> {
  const request = fitForProvider(asked, { maxIdChars: 64 });
  const losses = createLosses(format);
  losses.noteKept(request, 'request');
  const { sampling, responseShape: shape } = request;
  for (const name of ['metadata', 'endUser', 'previousAnswerId'] as const) if (request[name] !== undefined) losses.note(name);
  if (request.mayCallInParallel === false) losses.note('That calls may not be in parallel');
  const { toolConfig, calls, generationConfig, thinkingConfig, responseSchema, ...rest } = keptOf(request, format);
  const { system, contents } = writeContents(request, losses);
  const schema = shape?.kind === 'json-schema' ? shape.schema : undefined;
  const config = nonEmpty({
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    seed: sampling.seed,
    frequencyPenalty: sampling.frequencyPenalty,
    presencePenalty: sampling.presencePenalty,
    stopSequences: sampling.stopSequences,
    maxOutputTokens: request.maxTokens,
    responseMimeType: shape === undefined ? undefined : shape.kind === 'text' ? 'text/plain' : 'application/json',
    ...(responseSchema === undefined ? { responseJsonSchema: schema } : { responseSchema }),
    thinkingConfig: thinkingConfig ?? writeThinking(request.reasoning),
    ...objectIn(generationConfig),
  });
  const choice = writeChoice(request.toolChoice);
  const declared = request.tools.map((tool) => writeTool(tool, losses));
  const tools = [...(declared.length === 0 ? [] : [{ functionDeclarations: declared }]), ...writeNativeTools(request, losses)];
  const body = compact({
    systemInstruction: system.length === 0 ? undefined : { parts: system },
    contents,
    tools: tools.length === 0 ? undefined : tools,
    toolConfig: nonEmpty({ functionCallingConfig: nonEmpty({ ...choice, ...objectIn(calls) }), ...objectIn(toolConfig) }),
    generationConfig: config,
    ...rest,
  });
  return { value: body, warnings: losses.list };
}

/** Results of one turn stand together, as the calls do. */
function writeContents(
  { system, messages }: ConversationRequest,
  losses: Losses,
): { system: JsonObject[]; contents: JsonObject[] } {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const leading = messages.slice(0, first === -1 ? messages.length : first).flatMap(({ parts }) => parts);
  const contents: { role: string; parts: JsonObject[]; from: Message['role']; rest: JsonObject }[] = [];
  const names = new Map<string, string>();
  for (const message of first === -1 ? [] : messages.slice(first)) {
    losses.noteKept(message, 'message');
    for (const part of message.parts) if (part.type === 'tool-call') names.set(part.id, part.name);
    if (message.role === 'system')
      losses.tell(`What the system says between messages was written as said by the user: ${format} has no such place.`);
    const parts = writeGeminiParts(message.parts, 'to-provider', losses, (id) => names.get(id) ?? '');
    if (parts.length === 0) continue;
    const last = contents.at(-1);
    if (message.role === 'tool' && last?.from === 'tool') last.parts.push(...parts);
    else
      contents.push({
        role: message.role === 'assistant' ? 'model' : 'user',
        parts,
        from: message.role,
        rest: keptOf(message, format),
      });
  }
  return {
    system: writeGeminiParts([...system, ...leading], 'to-provider', losses),
    contents: contents.map(({ role, parts, rest }) => ({ role, parts, ...rest })),
  };
}

function writeTool(tool: ToolDeclaration, losses: Losses): JsonObject {
  losses.noteKept(tool, 'tool');
  const { parameters, ...rest } = keptOf(tool, format);
  if (tool.isStrict === true) losses.note('That a tool is strict');
  if (tool.isFreeText === true) losses.tell(`The tool "${tool.name}" takes a text; it is declared with {"input": text}.`);
  const schema = tool.isFreeText === true ? freeTextSchema : tool.parameters;
  const declared = parameters === undefined ? { parametersJsonSchema: schema } : { parameters };
  return compact({ name: tool.name, description: tool.description, ...declared, ...rest });
}

function writeChoice(choice: ToolChoice | undefined): JsonObject | undefined {
  if (choice === undefined) return undefined;
  if (choice.kind === 'tool') return { mode: 'ANY', allowedFunctionNames: [choice.name] };
  if (choice.kind === 'some') {
    return { mode: choice.mode === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames: choice.names };
  }
  return { mode: { auto: 'AUTO', none: 'NONE', required: 'ANY' }[choice.kind] };
}

function writeThinking(wish: ReasoningWish | undefined): JsonObject | undefined {
  if (wish === undefined) return undefined;
  const level = wish.effort === 'none' ? undefined : wish.effort;
  return compact({
    thinkingBudget: wish.effort === 'none' ? 0 : wish.maxTokens,
    thinkingLevel: wish.maxTokens === undefined ? level : undefined,
    includeThoughts: wish.isShown,
  });
}

import type { KeyHeader, ModelFormat } from './model-formats.ts';

/** A provider that the config names by one word. */
export interface KnownProvider {
  readonly title: string;
  readonly baseUrl: string;
  readonly format: ModelFormat;
  /** Where it speaks other formats. */
  readonly elsewhere?: Readonly<Partial<Record<ModelFormat, string>>>;
  /** The usual name of its key; absent where none is needed. */
  readonly keyName?: string;
  /** Where a person gets one. */
  readonly keyPage?: string;
  /** How its keys begin. */
  readonly keyPrefix?: string;
  readonly keyHeader?: KeyHeader;
  /** What is asked when nobody names a model. */
  readonly model?: string;
  /** Whether it tells which models it has. */
  readonly listsModels: boolean;
  /** What writes down what is said, when nobody names a model. */
  readonly speechModel?: string;
  /** It runs on one's own machine: no key, no price. */
  readonly isLocal?: true;
}

const openai = { format: 'openai-chat', listsModels: true } as const;
const local = { ...openai, isLocal: true } as const;

/** The table of providers; docs/models.md shows it, and a test compares the two. */
export const knownProviders = {
  openai: {
    ...openai,
    title: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    elsewhere: { 'openai-responses': 'https://api.openai.com/v1' },
    keyName: 'OPENAI_API_KEY',
    keyPage: 'https://platform.openai.com/api-keys',
    keyPrefix: 'sk-',
    model: 'gpt-4o',
    speechModel: 'whisper-1',
  },
  anthropic: {
    title: 'Anthropic',
    baseUrl: 'https://api.anthropic.com',
    format: 'anthropic',
    elsewhere: { 'openai-chat': 'https://api.anthropic.com/v1' },
    keyName: 'ANTHROPIC_API_KEY',
    keyPage: 'https://platform.claude.com/settings/keys',
    keyPrefix: 'sk-ant-',
    model: 'claude-sonnet-4-5',
    listsModels: true,
  },
  gemini: {
    title: 'Gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    format: 'gemini',
    elsewhere: { 'openai-chat': 'https://generativelanguage.googleapis.com/v1beta/openai' },
    keyName: 'GEMINI_API_KEY',
    keyPage: 'https://aistudio.google.com/apikey',
    keyPrefix: 'AIza',
    model: 'gemini-2.0-flash',
    listsModels: true,
  },
  groq: {
    ...openai,
    title: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    keyName: 'GROQ_API_KEY',
    keyPage: 'https://console.groq.com/keys',
    keyPrefix: 'gsk_',
    model: 'llama-3.3-70b-versatile',
    speechModel: 'whisper-large-v3-turbo',
  },
  'together-ai': {
    ...openai,
    title: 'Together AI',
    baseUrl: 'https://api.together.xyz/v1',
    keyName: 'TOGETHER_API_KEY',
    keyPage: 'https://api.together.ai/settings/api-keys',
    keyPrefix: 'tok_',
    model: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
  },
  nvidia: {
    ...openai,
    title: 'NVIDIA NIM',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    keyName: 'NVIDIA_API_KEY',
    keyPage: 'https://build.nvidia.com/settings/api-keys',
    keyPrefix: 'nvapi-',
    model: 'nvidia/moonshotai/kimi-k2.5',
  },
  'z-ai': {
    ...openai,
    title: 'z.ai',
    baseUrl: 'https://api.z.ai/api/coding/paas/v4',
    elsewhere: { anthropic: 'https://api.z.ai/api/anthropic' },
    keyName: 'Z_AI_API_KEY',
    keyPage: 'https://z.ai/manage-apikey/apikey-list',
    keyPrefix: 'zai-',
    listsModels: false,
  },
  elevenlabs: {
    ...openai,
    title: 'ElevenLabs',
    baseUrl: 'https://api.elevenlabs.io/v1',
    keyName: 'ELEVENLABS_API_KEY',
    keyPage: 'https://elevenlabs.io/app/api-keys',
    keyPrefix: 'sk_',
    keyHeader: 'xi-api-key',
    listsModels: false,
  },
  fireworks: {
    ...openai,
    title: 'Fireworks AI',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keyName: 'FIREWORKS_API_KEY',
    keyPage: 'https://fireworks.ai/account/api-keys',
    keyPrefix: 'fw_',
    model: 'accounts/fireworks/models/llama-v3p3-70b-instruct',
  },
  mistral: {
    ...openai,
    title: 'Mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    keyName: 'MISTRAL_API_KEY',
    keyPage: 'https://console.mistral.ai/api-keys',
    keyPrefix: 'sk-',
    model: 'mistral-large-latest',
  },
  deepseek: {
    ...openai,
    title: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com',
    elsewhere: { anthropic: 'https://api.deepseek.com/anthropic' },
    keyName: 'DEEPSEEK_API_KEY',
    keyPage: 'https://platform.deepseek.com/api_keys',
    keyPrefix: 'sk-',
    model: 'deepseek-chat',
  },
  openrouter: {
    ...openai,
    title: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyName: 'OPENROUTER_API_KEY',
    keyPage: 'https://openrouter.ai/keys',
    keyPrefix: 'sk-or-',
    model: 'anthropic/claude-sonnet-4',
    speechModel: 'whisper-1',
  },
  cerebras: {
    ...openai,
    title: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    keyName: 'CEREBRAS_API_KEY',
    keyPage: 'https://cloud.cerebras.ai/',
    keyPrefix: 'csk-',
    model: 'llama-3.3-70b',
  },
  'opencode-zen': {
    ...openai,
    title: 'OpenCode Zen',
    baseUrl: 'https://opencode.ai/zen/v1',
    keyName: 'OPENCODE_ZEN_API_KEY',
    keyPage: 'https://opencode.ai/auth',
    keyPrefix: 'zen-',
    model: 'anthropic/claude-sonnet-4',
  },
  xai: {
    ...openai,
    title: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    keyName: 'XAI_API_KEY',
    keyPage: 'https://console.x.ai/',
    keyPrefix: 'xai-',
    model: 'grok-3',
  },
  perplexity: {
    ...openai,
    title: 'Perplexity',
    baseUrl: 'https://api.perplexity.ai',
    keyName: 'PERPLEXITY_API_KEY',
    keyPage: 'https://www.perplexity.ai/settings/api',
    keyPrefix: 'pplx-',
    model: 'sonar-pro',
  },
  cohere: {
    ...openai,
    title: 'Cohere',
    baseUrl: 'https://api.cohere.com/compatibility/v1',
    keyName: 'COHERE_API_KEY',
    keyPage: 'https://dashboard.cohere.com/api-keys',
    keyPrefix: 'co-',
    model: 'command-r-plus',
  },
  ollama: { ...local, title: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
  'llama-cpp': { ...local, title: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1' },
  vllm: { ...local, title: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1' },
  'lm-studio': { ...local, title: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1' },
} as const satisfies Readonly<Record<string, KnownProvider>>;

/** A provider of the table; undefined for a name that is not in it. */
export function findKnownProvider(name: string): KnownProvider | undefined {
  return Object.entries<KnownProvider>(knownProviders).find(([known]) => known === name)?.[1];
}

import Type from 'typebox';

/** One model server with the OpenAI wire format, and the model that is asked of it. */
export const modelProviderSchema = Type.Object(
  {
    baseUrl: Type.String({ minLength: 1, maxLength: 2048, description: 'Such as https://api.example.com/v1.' }),
    model: Type.String({ minLength: 1, maxLength: 256, description: 'The name of the model as the server knows it.' }),
    key: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Name of the secret or `env` value with the API key.' }),
    ),
  },
  { additionalProperties: false },
);

/** The models as configured. */
export interface ModelSettings {
  /** The one that `context.llm` asks; empty when none is named. */
  readonly default: string;
  readonly providers: Readonly<Record<string, ModelProviderSettings>>;
  /** Tokens of an answer when the caller says nothing. */
  readonly maxTokens: number;
  /** Time for one answer. */
  readonly timeoutMs: number;
}

/** One model. */
export interface ModelProviderSettings {
  readonly baseUrl: string;
  readonly model: string;
  readonly key?: string | undefined;
}

/** What of the models does not fit together, as clauses that name the key. */
export function findModelProblems({ default: chosen, providers }: ModelSettings): string[] {
  const problems = Object.entries(providers).flatMap(([name, { baseUrl }]) => {
    const reason = judgeBaseUrl(baseUrl);
    return reason === undefined ? [] : [`models.providers.${name}.baseUrl must be ${reason} and is ${JSON.stringify(baseUrl)}`];
  });
  if (chosen === '' || Object.hasOwn(providers, chosen)) return problems;
  const known = Object.keys(providers).join(', ') || 'none';
  return [...problems, `models.default is ${JSON.stringify(chosen)}, which models.providers does not have (${known})`];
}

/** What is wrong with a base URL; undefined when nothing is. */
function judgeBaseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return 'a URL that begins with https:// or http://';
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return 'without user, password, query and fragment (a key goes into models.providers.NAME.key, by its name)';
  return undefined;
}

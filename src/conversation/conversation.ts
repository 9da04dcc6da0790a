/** Any JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * What a wire format said beyond the shapes of this folder, by the name of that format. A writer of the same format puts it back; one of another
 * format tells that it is left out.
 */
export type Kept = Readonly<Record<string, JsonObject>>;

/** A value that only the provider that made it can read: a signature, encrypted reasoning. It goes back as it came. */
export interface Sealed {
  /** The wire format that it came in. */
  readonly format: string;
  readonly value: string;
  /** The text was withheld, so the seal is all there is. */
  readonly isRedacted?: boolean;
}

/** Where the bytes of an image, a sound or a file are: in base64, at a URL, or with the provider under an id. */
export type MediaSource =
  | { readonly kind: 'data'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string; readonly mediaType?: string }
  | { readonly kind: 'id'; readonly id: string; readonly format: string };

interface Extras {
  readonly kept?: Kept;
}

export interface TextPart extends Extras {
  readonly type: 'text';
  readonly text: string;
  /** What is said while work goes on, or the answer itself. */
  readonly phase?: 'commentary' | 'final_answer';
  readonly sealed?: Sealed;
}

export interface ReasoningPart extends Extras {
  readonly type: 'reasoning';
  readonly text: string;
  readonly summaries?: readonly string[];
  readonly sealed?: Sealed;
}

export interface ImagePart extends Extras {
  readonly type: 'image';
  readonly source: MediaSource;
  readonly detail?: string;
}

export interface AudioPart extends Extras {
  readonly type: 'audio';
  readonly source: MediaSource;
  readonly transcript?: string;
}

export interface FilePart extends Extras {
  readonly type: 'file';
  readonly source: MediaSource;
  readonly name?: string;
}

/** The model declines. */
export interface RefusalPart extends Extras {
  readonly type: 'refusal';
  readonly text: string;
}

/**
 * The arguments of a call. `text` is JSON as the model wrote it, and `value` what it says. Broken ones have the text as it came, and a
 * sentence about it for the model.
 */
export type ToolArguments =
  | { readonly state: 'valid' | 'mended'; readonly text: string; readonly value: JsonObject }
  | { readonly state: 'broken'; readonly text: string; readonly problem: string };

/** The model asks for a tool. */
export interface ToolCallPart extends Extras {
  readonly type: 'tool-call';
  readonly id: string;
  readonly name: string;
  readonly arguments: ToolArguments;
  /** The tool takes a text instead of JSON; the value is then `{input: text}`. */
  readonly isFreeText?: boolean;
  readonly sealed?: Sealed;
}

/** What a tool answered to the call `callId`. */
export interface ToolResultPart extends Extras {
  readonly type: 'tool-result';
  readonly callId: string;
  /** The name of the tool, where it is known. */
  readonly name?: string;
  readonly content: readonly Part[];
  readonly isError: boolean;
  readonly isFreeText?: boolean;
}

/** A call that was run on the way, not by whoever reads this: shown with its result, and never run again. */
export interface RanCallPart extends Extras {
  readonly type: 'ran-call';
  readonly id: string;
  /** Who ran it. */
  readonly server: string;
  readonly name: string;
  readonly arguments: ToolArguments;
  readonly output?: string;
  readonly error?: string;
}

/** Something that only one wire format knows, as it came. */
export interface NativePart {
  readonly type: 'native';
  readonly format: string;
  readonly value: JsonObject;
}

/** One piece of a message. */
export type Part =
  | TextPart
  | ReasoningPart
  | ImagePart
  | AudioPart
  | FilePart
  | RefusalPart
  | ToolCallPart
  | ToolResultPart
  | RanCallPart
  | NativePart;

/**
 * One message. Calls, reasoning and refusals stand in messages of the assistant alone, results in those of `tool` alone; the results
 * of a message answer calls of earlier ones.
 */
export interface Message extends Extras {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly parts: readonly Part[];
}

/** What a wire format said of a thing beyond its neutral shape; nothing when it said nothing. */
export function keptOf(thing: Extras, format: string): JsonObject {
  return thing.kept?.[format] ?? {};
}

/** `rest` as what is kept for a format, to be spread into the thing; nothing when there is nothing. */
export function keep(format: string, rest: JsonObject): { kept?: Kept } {
  return Object.keys(rest).length === 0 ? {} : { kept: { [format]: rest } };
}

/** What is said in parts, without what is no text. */
export function textOf(parts: readonly Part[], separator = ''): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join(separator);
}

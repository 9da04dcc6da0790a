import { createParser } from 'eventsource-parser';

/** One message of a stream. `value` is undefined when the text is no JSON. */
export interface WireMessage {
  readonly event: string | undefined;
  readonly text: string;
  readonly value: unknown;
}

/** Splits what comes in pieces, cut anywhere, into messages. Nothing of it is dropped: what is no message comes as text. */
export function createMessageSplitter() {
  let messages: WireMessage[] = [];
  let isJson: boolean | undefined;
  let lead = '';
  const objects = createObjectSplitter((text) => messages.push(messageOf(undefined, text)));
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (data.trim() !== '') messages.push(messageOf(event, data));
    },
  });

  function take(): WireMessage[] {
    const taken = messages;
    messages = [];
    return taken;
  }

  return {
    push(text: string): WireMessage[] {
      lead += isJson === undefined ? text : '';
      const [first] = lead
        .trimStart()
        .replace(/^\uFEFF/, '')
        .trimStart();
      if (first === undefined) return [];
      const piece = isJson === undefined ? lead : text;
      isJson ??= first === '[' || first === '{';
      if (isJson) objects.push(piece);
      else parser.feed(piece);
      return take();
    },
    end(): WireMessage[] {
      if (isJson === true) objects.end();
      // A last event without its empty line was cut off by the server, but may be whole.
      else if (isJson === false) parser.feed('\n\n');
      return take();
    },
  };
}

/** Tells of every object of a JSON list, or of the one object that there is. */
function createObjectSplitter(onObject: (text: string) => void) {
  let object = '';
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  return {
    push(text: string): void {
      for (const char of text) {
        if (depth === 0 && char !== '{') continue;
        object += char;
        if (isInString) {
          if (isEscaped) isEscaped = false;
          else if (char === '\\') isEscaped = true;
          else if (char === '"') isInString = false;
          continue;
        }
        if (char === '"') isInString = true;
        else if (char === '{') depth += 1;
        else if (char === '}') depth -= 1;
        if (depth > 0) continue;
        onObject(object);
        object = '';
      }
    },
    end(): void {
      if (object !== '') onObject(object);
      object = '';
    },
  };
}

function messageOf(event: string | undefined, text: string): WireMessage {
  try {
    return { event, text, value: JSON.parse(text) };
  } catch {
    return { event, text, value: undefined };
  }
}

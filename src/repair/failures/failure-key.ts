import { hash } from 'node:crypto';

const maxChars = 400;

/** The key by which the same failure is known again: of the file, the class and what the message says, wherever it stands in the text. */
export function failureKey(path: string, failureClass: string, code: string, message: string): string {
  return hash('sha256', [path, failureClass, code, normaliseMessage(message)].join('\0'), 'hex').slice(0, 24);
}

/**
 * A message without what differs from one occurrence to the next: numbers, ids, addresses, and quoted texts that are no names of
 * code. Names stay: an `a` that is not defined is another failure than a `b`.
 */
export function normaliseMessage(message: string): string {
  return message
    .slice(0, 4 * maxChars)
    .replace(/ \(and \d+ more errors?\)/g, '')
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'`)]+/gi, '<address>')
    .replace(/"(?:[^"\\\n]|\\.)*"|`[^`\n]*`|(?<!\w)'(?:[^'\\\n]|\\.)*'/g, (quoted) =>
      /^.[\p{ID_Start}$_@./#][\p{ID_Continue}$@./:#-]{0,60}.$/u.test(quoted) && !/\d{3}/.test(quoted)
        ? `'${quoted.slice(1, -1)}'`
        : '<text>',
    )
    .replace(/\b(?=[0-9a-z-]*\d)[0-9a-f]{8}[0-9a-f-]{0,56}\b/gi, '<id>')
    .replace(/(?<![\p{ID_Continue}$])[+-]?\d+(?:[.,:]\d+)*/gu, '0')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, maxChars);
}

import type { BorderAnswer, LogLine } from '../../border/border.ts';
import type { Redactor } from '../../secrets/secret-types.ts';
import type { CallEnd, ExecutionRecord } from './execution-record.ts';

type MaybeRedactor = Redactor | undefined;

/** What the host answers, without secrets: whatever a capability brings from outside. */
export function redactAnswer(answer: BorderAnswer, redactor: MaybeRedactor): BorderAnswer {
  if (redactor === undefined || redactor.isIdle) return answer;
  if (!answer.ok) return { ...answer, message: redactor.text(answer.message) };
  const payload = redactor.json(answer.payload);
  return answer.body === undefined ? { ok: true, payload } : { ok: true, payload, body: ownBytes(redactor.bytes(answer.body)) };
}

/** A line of the log without secrets. */
export function redactLine(line: LogLine, redactor: MaybeRedactor): LogLine {
  return redactor === undefined || redactor.isIdle ? line : { ...line, text: redactor.text(line.text) };
}

/** The end of a call without secrets: what is recorded and answered. */
export function redactEnd(end: CallEnd, redactor: MaybeRedactor): CallEnd {
  if (redactor === undefined || redactor.isIdle) return end;
  const { output, outputJson, error, warnings } = end;
  return {
    ...end,
    ...(output !== undefined && { output: redactor.value(output) }),
    ...(outputJson !== undefined && { outputJson: redactor.json(outputJson) }),
    ...(error !== undefined && { error: redactor.value(error) }),
    ...(warnings !== undefined && { warnings: redactor.value(warnings) }),
  };
}

/** The row of a call without secrets in its arguments; the call itself runs with what it was given. */
export function redactRow(record: ExecutionRecord, redactor: MaybeRedactor): ExecutionRecord {
  if (redactor === undefined || redactor.isIdle) return record;
  const argumentsJson = redactor.json(record.argumentsJson);
  return argumentsJson === record.argumentsJson ? record : { ...record, argumentsJson };
}

/** Bytes that cross own their memory. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength === bytes.byteLength ? bytes : new Uint8Array(bytes);
}

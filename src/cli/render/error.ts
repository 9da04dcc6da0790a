import type { ExecutionError } from '../../calls/call-types.ts';
import { errorCatalog } from '../../errors/catalog.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { findOwnFrame } from '../../plugins/diagnostics/trace.ts';
import type { Diagnostic } from '../../plugins/plugin-types.ts';
import { type Style, tame } from './style.ts';

/** What there is to say about any failure. */
interface Failure {
  readonly title: string;
  readonly message: string;
  readonly place?: string | undefined;
  readonly codeFrame?: string | undefined;
  readonly fix?: string | undefined;
}

/** The one form in which a command tells an error: title, sentence, place, frame, fix. */
export function renderError(error: unknown, style: Style): string {
  if (!(error instanceof HotcellError)) {
    return renderFailure(
      { title: 'Fault in hotcell', message: error instanceof Error ? (error.stack ?? error.message) : String(error) },
      style,
    );
  }
  const diagnostic = readDiagnostic(error.facts.diagnostic);
  return renderFailure(
    { title: error.title, message: error.message, place: diagnostic?.place, codeFrame: diagnostic?.codeFrame, fix: error.fix },
    style,
  );
}

/** Why a plugin could not be built. */
export function renderDiagnostic(diagnostic: Diagnostic, style: Style): string {
  return renderFailure({ ...diagnostic, title: errorCatalog[diagnostic.code].title, place: placeOf(diagnostic) }, style);
}

/** Why a call failed. */
export function renderExecutionError(error: ExecutionError, style: Style): string {
  const frame = findOwnFrame(error.frames ?? []);
  return renderFailure({ ...error, title: errorCatalog[error.code].title, place: frame && placeOf(frame) }, style);
}

function renderFailure({ title, message, place, codeFrame, fix }: Failure, style: Style): string {
  const head = `${style.red('✗')} ${style.bold(title)}${place === undefined ? '' : `  ${style.cyan(tame(place))}`}`;
  const lines = [head, indent(tame(message))];
  if (codeFrame !== undefined) lines.push('', indent(style.dim(tame(codeFrame))), '');
  if (fix !== undefined && fix !== '' && !message.includes(fix)) lines.push(indent(`${style.green('Fix:')} ${tame(fix)}`));
  return `${lines.join('\n')}\n`;
}

/** `file:line:column`, as far as it is known. */
export function placeOf(where: { readonly file?: string; readonly line?: number; readonly column?: number }): string | undefined {
  if (where.file === undefined) return undefined;
  return [where.file, where.line, where.column].filter((part) => part !== undefined).join(':');
}

function readDiagnostic(value: unknown): { place: string | undefined; codeFrame: string | undefined } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { file, line, column, codeFrame } = {
    file: undefined,
    line: undefined,
    column: undefined,
    codeFrame: undefined,
    ...value,
  };
  const place = [file, line, column].filter((part) => typeof part === 'string' || typeof part === 'number');
  return {
    place: place.length === 0 ? undefined : place.join(':'),
    codeFrame: typeof codeFrame === 'string' ? codeFrame : undefined,
  };
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : `  ${line}`))
    .join('\n');
}

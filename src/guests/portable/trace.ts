/** Maps positions in the bundle back to the plugin's own files, by the source map that the build left. */

/** The part of a source map that positions need. */
export interface PositionMap {
  readonly mappings: string;
  readonly sources: readonly string[];
}

interface Segment {
  readonly column: number;
  readonly source: number;
  readonly line: number;
  readonly sourceColumn: number;
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const framePattern = /^\s*at (?:(.*) \()?plugin\.js:(\d+):(\d+)\)?$/;
const mostFrames = 10;

/** The lines of a stack that lie in the plugin, as `    at name (file:line:column)`. */
export function traceStack(stack: string, map: PositionMap): string[] {
  const lines = decode(map.mappings);
  const frames = stack.split('\n').flatMap((text) => {
    const [, name, line, column] = framePattern.exec(text) ?? [];
    const segment = lines[Number(line) - 1]?.findLast((each) => each.column <= Number(column) - 1);
    const file = segment && map.sources[segment.source];
    if (!segment || file === undefined || /^(?:builtin|refused|hotcell):/.test(file)) return [];
    const place = `${file.replace(/^commonjs:/, '')}:${segment.line + 1}:${segment.sourceColumn + 1}`;
    return [name === undefined ? `    at ${place}` : `    at ${name} (${place})`];
  });
  return frames.slice(0, mostFrames);
}

/** Base 64 numbers with variable length, each the difference to the one before. */
function decode(mappings: string): Segment[][] {
  const sums = [0, 0, 0, 0];
  return mappings.split(';').map((line) => {
    sums[0] = 0;
    return line.split(',').flatMap((text) => {
      const numbers = readNumbers(text);
      numbers.slice(0, 4).forEach((number, index) => {
        sums[index] = (sums[index] ?? 0) + number;
      });
      const [column = 0, source = 0, sourceLine = 0, sourceColumn = 0] = sums;
      return numbers.length < 4 ? [] : [{ column, source, line: sourceLine, sourceColumn }];
    });
  });
}

function readNumbers(text: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const digit of text) {
    const bits = digits.indexOf(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}

/** Finds the place in code at which an error was thrown, from its stack. */
import { fileURLToPath } from 'node:url';

/** A place in a file. */
export interface ThrownPlace {
  /** The absolute path. */
  readonly path: string;
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1. Absent for a text that cannot be parsed. */
  readonly column?: number;
}

const frame = /(?:\s|\()(file:\/\/[^)]+?|\/[^)]+?|[A-Za-z]:\\[^)]+?):(\d+):(\d+)\)?$/;
/** The line that Node writes above an error about a text that cannot be parsed or linked. */
const heading = /^(file:\/\/.+|\/.+|[A-Za-z]:\\.+):(\d+)$/;
/** Maximum number of frames that are read. */
const maxFrames = 20;

/**
 * The places of a stack, innermost first.
 * @param thrown whatever was thrown; reading it may throw
 */
export function placesOf(thrown: unknown): readonly ThrownPlace[] {
  const [first = '', ...lines] = stackOf(thrown).split('\n');
  const [, headed, at] = heading.exec(first) ?? [];
  const top = headed === undefined ? undefined : pathOf(headed);
  if (top !== undefined) return [{ path: top, line: Number(at) }];
  return lines
    .filter((line) => /^\s+at /.test(line))
    .slice(0, maxFrames)
    .flatMap((line) => placeOfFrame(line) ?? []);
}

/** The place that one line of a stack names; undefined if it names no file. */
export function placeOfFrame(text: string): ThrownPlace | undefined {
  const [, file, line, column] = frame.exec(text) ?? [];
  const path = file === undefined ? undefined : pathOf(file);
  return path === undefined ? undefined : { path, line: Number(line), column: Number(column) };
}

/** Writes a place as `path:line:column`. */
export function placeText({ path, line, column }: ThrownPlace): string {
  return `${path}:${line}${column === undefined ? '' : `:${column}`}`;
}

function stackOf(thrown: unknown): string {
  try {
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    return typeof stack === 'string' ? stack : '';
  } catch {
    return '';
  }
}

/** The path of a file or file URL. Undefined for a file URL that has no path on this system. */
function pathOf(file: string): string | undefined {
  try {
    return file.startsWith('file:') ? fileURLToPath(file.split('?', 1)[0] as string) : file;
  } catch {
    return undefined;
  }
}

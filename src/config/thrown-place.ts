/** Where in somebody's code an error was thrown, as far as its stack tells. */
import { fileURLToPath } from 'node:url';

/** A place in a file. */
export interface ThrownPlace {
  /** Absolute. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** From 1; absent for a text that cannot be parsed. */
  readonly column?: number;
}

const frame = /(?:\s|\()(file:\/\/[^)]+?|\/[^)]+?|[A-Za-z]:\\[^)]+?):(\d+):(\d+)\)?$/;
/** What Node writes above an error of a text that cannot be parsed or linked. */
const heading = /^(file:\/\/.+|\/.+|[A-Za-z]:\\.+):(\d+)$/;
/** Frames that are looked at. */
const mostFrames = 20;

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
    .slice(0, mostFrames)
    .flatMap((line) => placeOfFrame(line) ?? []);
}

/** The place that one line of a stack names; undefined if it names no file. */
export function placeOfFrame(text: string): ThrownPlace | undefined {
  const [, file, line, column] = frame.exec(text) ?? [];
  const path = file === undefined ? undefined : pathOf(file);
  return path === undefined ? undefined : { path, line: Number(line), column: Number(column) };
}

/** `path:line:column`. */
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

/** Undefined for the URL of no file here. */
function pathOf(file: string): string | undefined {
  try {
    return file.startsWith('file:') ? fileURLToPath(file.split('?', 1)[0] as string) : file;
  } catch {
    return undefined;
  }
}

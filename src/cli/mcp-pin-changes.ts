/** The differences between two definitions of a tool, as lines that are safe on a terminal. */
import type { JsonObject, JsonValue } from '../core.ts';
import { escapePointer } from '../values/json/index.ts';
import type { PinnedTool } from './mcp-pin-file.ts';
import { jsonText, printable } from './printable.ts';

/** One place where two definitions differ. A side without a value there is absent. */
export interface Difference {
  /** JSON pointer, such as `/parameters/properties/path/type`. */
  readonly path: string;
  readonly before?: JsonValue;
  readonly after?: JsonValue;
}

/** A tool whose definition differs from the accepted one. */
export interface Change {
  readonly name: string;
  /** `gone`: the server no longer has it, or it can no longer be imported. */
  readonly kind: 'new' | 'changed' | 'gone';
  readonly pinned: string | null;
  readonly found: string | null;
  readonly differences: readonly Difference[];
}

/** Compares an accepted definition with the present one. */
export function changeOf(
  name: string,
  pinned: PinnedTool | undefined,
  found: PinnedTool | undefined,
): Change {
  return {
    name,
    kind: pinned === undefined ? 'new' : found === undefined ? 'gone' : 'changed',
    pinned: pinned?.fingerprint ?? null,
    found: found?.fingerprint ?? null,
    differences:
      found === undefined ? [] : differences(pinned?.definition ?? {}, found.definition, ''),
  };
}

function differences(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  path: string,
): Difference[] {
  if (isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after)) {
    const [left, right] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
    return [...new Set([...left.keys(), ...right.keys()])].flatMap((key) =>
      differences(left.get(key), right.get(key), `${path}/${escapePointer(key)}`),
    );
  }
  if (before === after) return [];
  return [
    {
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    },
  ];
}

function isContainer(value: JsonValue | undefined): value is JsonObject | readonly JsonValue[] {
  return typeof value === 'object' && value !== null;
}

/** A change as printable lines. */
export function changeLines({ name, kind, differences: places }: Change): string[] {
  const title = {
    new: 'is new',
    changed: 'changed',
    gone: 'is gone, or can no longer be imported',
  }[kind];
  const isUnknown = kind === 'changed' && places.length === 0;
  return [
    `${printable(name)} ${title}${isUnknown ? '; the file does not have the old definition' : ''}`,
    ...places.flatMap(lines),
  ];
}

function lines({ path, before, after }: Difference): string[] {
  const side = (mark: string, value: JsonValue | undefined): string[] =>
    value === undefined
      ? []
      : (typeof value === 'string'
          ? value.split('\n').map(printable)
          : jsonText(value, 2).split('\n')
        ).map((line) => `    ${mark} ${line}`);
  return [`  ${printable(path)}`, ...side('-', before), ...side('+', after)];
}

/**
 * The file of accepted definitions. It has each tool's definition, so that changes can be shown.
 */
import { dirname, resolve } from 'node:path';
import type { AnyTool, JsonObject, JsonValue } from '../core.ts';
import { logAt } from '../surfaces/audit/log-files.ts';
import { messageOf } from '../values/errors/index.ts';
import { makeFolder } from '../values/files/private-folder.ts';
import { writeOutput } from '../values/files/whole-file.ts';
import { escapePointer, isJsonObject } from '../values/json/index.ts';
import type { CliIo } from './cli-io.ts';
import { failure } from './fault.ts';
import { jsonText, printable } from './printable.ts';
import { readTextFile } from './read-text.ts';

/** The accepted definition of one tool. */
export interface PinnedTool {
  readonly fingerprint: string;
  /** The fields that the fingerprint covers. Absent fields are unknown. */
  readonly definition: JsonObject;
}

const maxBytes = 64 * 1_048_576;
const fields = ['description', 'parameters', 'outputSchema', 'annotations'] as const;

/** The fields of a definition that are pinned and shown. */
export function pinnedOf(tool: AnyTool<unknown>): PinnedTool {
  const shown = fields.flatMap((field) =>
    tool[field] === undefined ? [] : [[field, tool[field] as JsonValue] as const],
  );
  return { fingerprint: tool.fingerprint, definition: Object.fromEntries(shown) };
}

/** Reads the file. If it does not exist, nothing is pinned. @throws CliFault 1 */
export async function readPinFile(
  path: string,
  io: CliIo,
): Promise<ReadonlyMap<string, PinnedTool>> {
  let text: string;
  try {
    text = await readTextFile(path, io, maxBytes);
  } catch (error) {
    if (!io.signal.aborted && messageOf(error) === 'there is no such file') return new Map();
    throw io.signal.aborted ? error : failure(`Cannot read \`${path}\`: ${messageOf(error)}.`);
  }
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw failure(`Expected \`${path}\` to be JSON: ${messageOf(error)}.`);
  }
  if (!isJsonObject(value))
    throw failure(`Expected \`${path}\` to be an object of accepted tools by name.`);
  return new Map(
    Object.entries(value).map(([name, pin]) => {
      const { fingerprint, ...definition } =
        typeof pin === 'string'
          ? { fingerprint: pin }
          : isJsonObject(pin)
            ? pin
            : { fingerprint: undefined };
      if (typeof fingerprint !== 'string')
        throw failure(`\`${path}\`: expected the pin of \`${name}\` to have a \`fingerprint\`.`);
      return [name, { fingerprint, definition: definition as JsonObject }];
    }),
  );
}

/**
 * Writes the whole file or nothing, and creates its folder if it is missing. Names are sorted, so
 * that a diff is easy to review.
 * @throws CliFault 1
 */
export async function writePinFile(
  path: string,
  pins: ReadonlyMap<string, PinnedTool>,
  { cwd }: CliIo,
): Promise<void> {
  const target = resolve(cwd, path);
  if (logAt(target) !== undefined)
    throw failure(`\`${path}\` belongs to an audit log. Give another file for the pins.`);
  const sorted = [...pins].sort(([a], [b]) => (a < b ? -1 : 1));
  const value = Object.fromEntries(
    sorted.map(([name, { fingerprint, definition }]) => [name, { fingerprint, ...definition }]),
  );
  try {
    makeFolder(dirname(target), 0o777);
    await writeOutput(target, `${JSON.stringify(value, undefined, 2)}\n`);
  } catch (error) {
    throw failure(`Cannot write \`${path}\`: ${messageOf(error)}.`);
  }
}

// The differences between two definitions of a tool, as lines that are safe on a terminal.

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

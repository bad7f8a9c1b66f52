/**
 * Definitions as an application gives them: read one by one, copied, checked and cleaned. One that
 * cannot be taken costs no other.
 */

import { describe } from '../../errors.ts';
import { isMisuseError, type JsonObject, type JsonValue, MisuseError } from '../../index.ts';
import { copyJson, isJsonObject } from '../../json.ts';
import { gateSchema } from '../../schema/gate.ts';
import type { SharedPatterns } from '../../schema/pattern-budget.ts';
import { cleanLine, cleanSchema, cleanText } from '../../surfaces/shared/outside-text.ts';
import { createPause, type Pause } from '../../surfaces/shared/stretches.ts';
import { checkToolName, nameSkeleton } from '../../text/names.ts';
import type { RelayedDefinition } from '../ports/documents.ts';
import { defineRelayedTool } from './relayed-tool.ts';

/** Most bytes of a description. */
const maxDescriptionBytes = 8_192;
/** Most bytes of a title; a longer one is cut. */
const maxTitleBytes = 256;
/**
 * Most instructions of the patterns of all schemas that a session has: compiling them is what
 * costs, some tenths of a second at worst.
 */
const maxPatternSize = 100_000;
/** Of one definition: two schemas as large as the gate takes them, and the rest. */
const bounds = { maxDepth: 65, maxValues: 150_000, maxChars: 600_000 } as const;

/** A definition that was not taken. */
export interface FailedTool {
  /** As it was given, made fit for a log; `(no name)` without one. */
  readonly toolName: string;
  /** What was expected, what came. */
  readonly error: string;
  /** True where it can be taken once it is mended; false where the name cannot be had. */
  readonly recoverable: boolean;
}

/** What stands beside the definitions that are read. */
export interface ReadOptions {
  /**
   * The name that stands in the way of one that an application gives: the same, or one that it
   * could be taken for. Undefined where it is free.
   */
  readonly taken: (name: string) => string | undefined;
  /**
   * The application's own tools that stay: a name again is the next definition of that tool, a twin
   * of one is refused. @default none
   */
  readonly kept?: readonly RelayedDefinition[];
  /** Called before each. @default one that lets others run every 10 ms */
  readonly pause?: Pause;
}

/** @param raw of any shape; how many there may be is the caller's business */
export async function readDefinitions(
  raw: readonly unknown[],
  { taken, kept: standing = [], pause = createPause() }: ReadOptions,
): Promise<{ definitions: RelayedDefinition[]; failed: FailedTool[] }> {
  const definitions: RelayedDefinition[] = [];
  const failed: FailedTool[] = [];
  const names = new Map(standing.map(({ name }) => [nameSkeleton(name), name]));
  const read = new Set<string>();
  const patterns: SharedPatterns = {
    left: standing.reduce((left, { patternSize = 0 }) => left - patternSize, maxPatternSize),
  };
  for (const one of raw) {
    await pause();
    let toolName = reportedName(one);
    try {
      const entry = copied(one);
      const name = checkToolName(entry.name);
      toolName = name;
      const skeleton = nameSkeleton(name);
      const twin = names.get(skeleton);
      if (read.has(name))
        throw new MisuseError(
          'duplicate_name',
          'The name was given twice. The first definition is used.',
        );
      if (twin !== undefined && twin !== name)
        throw new MisuseError(
          'name_conflict',
          `Its name could be taken for \`${twin}\`, which came before it.`,
        );
      const holder = taken(name);
      if (holder !== undefined) {
        failed.push({
          toolName,
          error:
            `Its name ${holder === name ? 'is that of' : `could be taken for \`${cleanLine(holder, 200)}\`,`} ` +
            'a tool of the host. Choose another name.',
          recoverable: false,
        });
        continue;
      }
      definitions.push(readDefinition(name, entry, patterns));
      names.set(skeleton, name);
      read.add(name);
    } catch (error) {
      if (!isMisuseError(error)) throw error;
      failed.push({ toolName, error: cleanLine(error.message, 600), recoverable: true });
    }
  }
  return { definitions, failed };
}

/** A private copy: nothing of what came is looked at twice. */
function copied(one: unknown): JsonObject {
  const copy = copyJson(one, bounds);
  if (!copy.ok && copy.fault === 'too_deep') throw invalid('It is nested deeper than 64 levels.');
  if (!copy.ok && copy.fault === 'not_json') throw invalid(`At \`${copy.path}\`: ${copy.message}.`);
  if (!copy.ok || copy.overflow)
    throw invalid(`It has more than ${bounds.maxValues} values or ${bounds.maxChars} characters.`);
  if (!isJsonObject(copy.value))
    throw invalid(
      `Expected an object { name, description, parameters }, got ${describe(copy.value)}.`,
    );
  return copy.value;
}

function readDefinition(
  name: string,
  entry: JsonObject,
  patterns: SharedPatterns,
): RelayedDefinition {
  const before = patterns.left;
  const description = readDescription(entry.description);
  const parameters = readSchema(
    'parameters',
    firstOf(entry, ['parameters', 'inputSchema', 'input_schema']),
    patterns,
  );
  const output = firstOf(entry, ['outputSchema', 'output_schema']);
  const outputSchema =
    output === undefined ? undefined : readSchema('outputSchema', output, patterns);
  const hints = isJsonObject(entry.annotations) ? entry.annotations : {};
  const title = cleanLine(entry.title, maxTitleBytes) || cleanLine(hints.title, maxTitleBytes);
  const annotations = readHints(hints);
  const definition: RelayedDefinition = {
    name,
    description,
    parameters,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(title === '' ? {} : { title }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(patterns.left < before ? { patternSize: before - patterns.left } : {}),
  };
  // What is read can be registered: the core has the last word.
  defineRelayedTool(definition, { source: 'relay', timeoutMs: 1, executor: nowhere });
  return definition;
}

const nowhere = { kind: 'remote', execute: async () => undefined } as const;

function readDescription(description: JsonValue | undefined): string {
  if (typeof description !== 'string')
    throw invalid(
      `Expected \`description\` to be a non-blank string, got ${describe(description)}.`,
    );
  const bytes = Buffer.byteLength(description);
  if (bytes > maxDescriptionBytes)
    throw invalid(
      `Expected \`description\` to have at most ${maxDescriptionBytes} bytes, got ${bytes}.`,
    );
  const clean = cleanText(description, maxDescriptionBytes);
  if (clean === '')
    throw invalid('Expected `description` to be a non-blank string, got none that can be seen.');
  return clean;
}

function readSchema(
  field: string,
  schema: JsonValue | undefined,
  patterns: SharedPatterns,
): JsonObject {
  if (!isJsonObject(schema))
    throw new MisuseError(
      'invalid_schema',
      `Expected \`${field}\` to be a JSON Schema object, got ${describe(schema)}.`,
    );
  try {
    return cleanSchema(gateSchema(schema, patterns)) as JsonObject;
  } catch (error) {
    if (!isMisuseError(error)) throw error;
    throw new MisuseError('invalid_schema', `\`${field}\`: ${error.message}`, { cause: error });
  }
}

/**
 * Hints that tighten, and `idempotent`: by the application's own word about its own tool a call may
 * be delivered to it again. No gate sees that one.
 */
function readHints(hints: JsonObject): JsonObject | undefined {
  const said = (hint: string): boolean => hints[hint] === true || hints[`${hint}Hint`] === true;
  const kept = ['destructive', 'openWorld', 'idempotent'].filter(said);
  return kept.length === 0 ? undefined : Object.fromEntries(kept.map((hint) => [hint, true]));
}

/** The first of several names that a field has. */
function firstOf(entry: JsonObject, names: readonly string[]): JsonValue | undefined {
  for (const name of names)
    if (Object.hasOwn(entry, name) && entry[name] !== null) return entry[name];
  return undefined;
}

/** Whatever stands for the name, also of what cannot be copied. */
function reportedName(one: unknown): string {
  try {
    return cleanLine((one as { name?: unknown } | null | undefined)?.name, 200) || '(no name)';
  } catch {
    return '(no name)';
  }
}

function invalid(message: string): MisuseError {
  return new MisuseError('invalid_definition', message);
}

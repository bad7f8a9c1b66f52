/**
 * Reads the definitions that an application sends: one by one, copied, checked and cleaned. An
 * invalid definition does not affect the others.
 */
import { isMisuseError, type JsonObject, type JsonValue, MisuseError } from '../../../core.ts';
import { describe } from '../../../values/errors/index.ts';
import { copyJson, isJsonObject } from '../../../values/json/index.ts';
import type { SharedPatterns } from '../../../values/json-schema/pattern-budget.ts';
import { createPause, type Pause } from '../../../values/limits/stretches.ts';
import { checkToolName, nameSkeleton } from '../../../values/text/names.ts';
import { foreignInput, foreignOutput, type UncheckedPart } from '../../shared/foreign-schema.ts';
import { cleanAll, cleanLine, cleanText } from '../../shared/outside-text.ts';
import type { RelayedDefinition } from '../ports/documents.ts';
import { defineRelayedTool } from './relayed-tool.ts';

/** Most bytes of a description. */
const maxDescriptionBytes = 8_192;
/** Most bytes of the constraints of a tool, as JSON. */
const maxConstraintBytes = 8_192;
/** Most bytes of a title; a longer one is cut. */
const maxTitleBytes = 256;
/**
 * Most instructions of all patterns in the schemas of a session. Compiling them is the expensive
 * part and takes some tenths of a second at worst.
 */
const maxPatternSize = 100_000;
/** Limits of one definition: two schemas of the largest accepted size, and the rest. */
const bounds = { maxDepth: 65, maxValues: 150_000, maxChars: 600_000 } as const;

/** A definition that was not accepted. */
export interface FailedTool {
  /** The name from the application, cleaned for logs. `(no name)` if it is missing. */
  readonly toolName: string;
  /** What was expected and what was got. */
  readonly error: string;
  /** True if a corrected definition can be accepted; false if the name cannot be used. */
  readonly recoverable: boolean;
}

/** A part of a tool's schemas that the relay does not check. The tool is accepted all the same. */
export interface ToolWarning extends UncheckedPart {
  readonly toolName: string;
}

/** The options of {@link readDefinitions}. */
export interface ReadOptions {
  /**
   * The host's tool that conflicts with a name: it has the same name or one that looks like it.
   * Undefined when the name is free.
   */
  readonly taken: (name: string) => string | undefined;
  /**
   * The application's tools that remain. A definition with the same name replaces the tool; one
   * with a name that looks like it is refused.
   * @default none
   */
  readonly kept?: readonly RelayedDefinition[];
  /** Called before each definition. @default one that lets other tasks run every 5 ms */
  readonly pause?: Pause;
}

/**
 * Reads definitions.
 * @param raw values of any shape; the caller limits their number
 */
export async function readDefinitions(
  raw: readonly unknown[],
  { taken, kept: standing = [], pause = definitionPause() }: ReadOptions,
): Promise<{ definitions: RelayedDefinition[]; failed: FailedTool[]; warnings: ToolWarning[] }> {
  const definitions: RelayedDefinition[] = [];
  const warnings: ToolWarning[] = [];
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
        const conflict =
          holder === name ? 'is that of' : `could be taken for \`${cleanLine(holder, 200)}\`,`;
        failed.push({
          toolName,
          error: `Its name ${conflict} a tool of the host. Choose another name.`,
          recoverable: false,
        });
        continue;
      }
      const unchecked: UncheckedPart[] = [];
      definitions.push(readDefinition(name, entry, patterns, unchecked));
      for (const part of unchecked) warnings.push({ toolName: name, ...part });
      names.set(skeleton, name);
      read.add(name);
    } catch (error) {
      if (!isMisuseError(error)) throw error;
      failed.push({ toolName, error: cleanLine(error.message, 600), recoverable: true });
    }
  }
  return { definitions, failed, warnings };
}

/** Makes a private copy, so that no part of the input is read twice. */
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
  unchecked: UncheckedPart[],
): RelayedDefinition {
  const before = patterns.left;
  const description = readDescription(entry.description);
  const shared = { patterns, unchecked };
  const input = firstOf(entry, ['parameters', 'inputSchema', 'input_schema']);
  const parameters = readInput(schemaIn('parameters', input), shared);
  const output = firstOf(entry, ['outputSchema', 'output_schema']);
  const outputSchema =
    output === undefined
      ? undefined
      : foreignOutput({
          ...shared,
          schema: schemaIn('outputSchema', output),
          field: 'outputSchema',
        });
  const hints = isJsonObject(entry.annotations) ? entry.annotations : {};
  const title = cleanLine(entry.title, maxTitleBytes) || cleanLine(hints.title, maxTitleBytes);
  const annotations = readHints(hints);
  const constraints = readConstraints(entry.constraints);
  const definition: RelayedDefinition = {
    name,
    description,
    parameters,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(title === '' ? {} : { title }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(constraints === undefined ? {} : { constraints }),
    ...(patterns.left < before ? { patternSize: before - patterns.left } : {}),
  };
  // Runs the core's own checks, so that every definition that is accepted can be registered.
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

function schemaIn(field: string, schema: JsonValue | undefined): JsonObject {
  if (isJsonObject(schema)) return schema;
  throw new MisuseError(
    'invalid_schema',
    `Expected \`${field}\` to be a JSON Schema object, got ${describe(schema)}.`,
  );
}

function readInput(
  schema: JsonObject,
  shared: { readonly patterns: SharedPatterns; readonly unchecked: UncheckedPart[] },
): JsonObject {
  try {
    return foreignInput({ ...shared, schema, field: 'parameters' });
  } catch (error) {
    if (!isMisuseError(error)) throw error;
    throw new MisuseError('invalid_schema', `\`parameters\`: ${error.message}`, { cause: error });
  }
}

/**
 * Keeps the hints that make a check stricter, and `idempotent`. That one says that a call to the
 * application's own tool can be delivered again; no check uses it.
 */
function readHints(hints: JsonObject): JsonObject | undefined {
  const said = (hint: string): boolean => hints[hint] === true || hints[`${hint}Hint`] === true;
  const kept = ['destructive', 'openWorld', 'idempotent'].filter(said);
  return kept.length === 0 ? undefined : Object.fromEntries(kept.map((hint) => [hint, true]));
}

/** The limits of a tool as its application states them. They are shown, and not enforced. */
function readConstraints(constraints: JsonValue | undefined): JsonObject | undefined {
  if (constraints === undefined || constraints === null) return undefined;
  if (!isJsonObject(constraints))
    throw invalid(`Expected \`constraints\` to be an object, got ${describe(constraints)}.`);
  const clean = cleanAll(constraints) as JsonObject;
  const bytes = Buffer.byteLength(JSON.stringify(clean));
  if (bytes > maxConstraintBytes)
    throw invalid(
      `Expected \`constraints\` to have at most ${maxConstraintBytes} bytes of JSON, got ${bytes}.`,
    );
  return Object.keys(clean).length === 0 ? undefined : clean;
}

/** The value of the first of a field's names that is present. */
function firstOf(entry: JsonObject, names: readonly string[]): JsonValue | undefined {
  for (const name of names)
    if (Object.hasOwn(entry, name) && entry[name] !== null) return entry[name];
  return undefined;
}

/** The name for reports, even if the definition cannot be copied. */
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

// Lets other work of the node run while a long list of definitions is processed.

/** Milliseconds between two pauses. The steps before and after a list take about as long again. */
const stretchMs = 5;

/** Makes a pause for the steps between definitions. */
export function definitionPause(): Pause {
  return createPause(stretchMs);
}

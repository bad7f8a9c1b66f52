/** Reads the schemas of tools that others define: servers and applications. */
import { isMisuseError, type JsonObject, MisuseError } from '../../core.ts';
import { isJsonObject } from '../../values/json/index.ts';
import { gateSchema } from '../../values/json-schema/gate.ts';
import type { SharedPatterns } from '../../values/json-schema/pattern-budget.ts';
import { cleanLine, cleanSchema } from './outside-text.ts';

/** Most parts of one schema that are noted one by one. */
const maxNotes = 20;

/** A part of a tool's schemas that is not checked here. */
export interface UncheckedPart {
  /** JSON pointer into the tool's definition, such as `/inputSchema/properties/guest/pattern`. */
  readonly path: string;
  /** Why it is not checked. */
  readonly message: string;
}

/** Where a schema comes from. */
export interface ForeignSchema {
  readonly schema: JsonObject;
  /** The member of the definition that has the schema. */
  readonly field: string;
  /** The budget that the patterns of all definitions share. */
  readonly patterns: SharedPatterns;
  /** Gets what is not checked. */
  readonly unchecked: UncheckedPart[];
}

/**
 * Reads an input schema. Parts that only the tool's owner can check are removed and noted.
 * @throws MisuseError `invalid_schema` for a schema beyond the limits
 */
export function foreignInput(foreign: ForeignSchema): JsonObject {
  const schema = read(foreign);
  const { type } = schema;
  // Arguments are always an object.
  return Array.isArray(type) && type.includes('object') ? { ...schema, type: 'object' } : schema;
}

/** Reads an output schema. One that cannot be used is left out and noted. */
export function foreignOutput(foreign: ForeignSchema): JsonObject | undefined {
  try {
    return read(foreign);
  } catch (error) {
    if (!isMisuseError(error)) throw error;
    note(foreign, '', `the schema is left out: ${error.message}`);
    return undefined;
  }
}

function read(foreign: ForeignSchema): JsonObject {
  const { schema, left } = gateSchema(foreign.schema, foreign.patterns);
  if (!isJsonObject(schema))
    throw new MisuseError('invalid_schema', 'Expected a schema object, got a boolean.');
  for (const { path, message } of left.slice(0, maxNotes)) note(foreign, path, message);
  if (left.length > maxNotes)
    note(foreign, '', `${left.length - maxNotes} other parts, for such reasons`);
  return cleanSchema(schema);
}

function note({ field, unchecked }: ForeignSchema, path: string, why: string): void {
  unchecked.push({
    path: cleanLine(`/${field}${path}`, 500),
    message: cleanLine(`Not checked here: ${why.charAt(0).toLowerCase()}${why.slice(1)}.`, 1_000),
  });
}

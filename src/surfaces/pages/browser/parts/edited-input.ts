/** An input that a person edits, in a form or as JSON. */
import type { JsonObject } from '../../../../values/json/value.ts';
import { readExact } from './exact-json.ts';
import { type Changes, type Field, fieldsFor, inputOf } from './schema-fields.ts';
import { visibleJson } from './visible.ts';

/** What has been edited. */
export interface Edited {
  /** Whether it is edited as JSON. */
  readonly asText: boolean;
  /** The JSON text. */
  readonly text: string;
  /** The input that the form begins with. */
  readonly base: JsonObject;
  /** The schema of the form. What is typed stays what it is if another schema arrives later. */
  readonly schema: unknown;
  /** What was changed in the form. */
  readonly changes: Changes;
}

/** The edited input, or what is wrong with it: as a whole, and by the names of fields. */
export type ReadInput =
  | { readonly input: JsonObject }
  | { readonly fault: string; readonly faults: ReadonlyMap<string, string> };

/** An input before it is edited. If it has too many members for a form, it is edited as JSON. */
export function startEdit(schema: unknown, input: JsonObject): Edited {
  const asText = fieldsFor(schema, input) === undefined;
  return {
    asText,
    text: asText ? visibleJson(input) : '',
    base: input,
    schema,
    changes: new Map(),
  };
}

/** One more field is changed. */
export function withChange(edited: Edited, name: string, text: string | undefined): Edited {
  return { ...edited, changes: new Map(edited.changes).set(name, text) };
}

export function readEdited(fields: readonly Field[] | undefined, edited: Edited): ReadInput {
  if (edited.asText || fields === undefined) return readText(edited.text);
  const read = inputOf(fields, edited.changes);
  return 'input' in read
    ? read
    : { fault: 'Some fields are not filled in as the tool expects.', faults: read.faults };
}

/** Goes on in the form, or as JSON; undefined if what there is cannot be read yet. */
export function toggled(fields: readonly Field[] | undefined, edited: Edited): Edited | undefined {
  const read = readEdited(fields, edited);
  if (!('input' in read)) return undefined;
  return edited.asText
    ? { ...edited, asText: false, base: read.input, changes: new Map() }
    : { ...edited, asText: true, text: visibleJson(read.input) };
}

function readText(text: string): ReadInput {
  const faults = new Map<string, string>();
  const read = readExact(text);
  if ('fault' in read) return { fault: read.fault, faults };
  const input = read.value;
  return typeof input === 'object' && input !== null && !Array.isArray(input)
    ? { input: input as JsonObject }
    : { fault: 'Expected a JSON object: { … }.', faults };
}

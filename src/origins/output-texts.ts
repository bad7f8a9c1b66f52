/** Takes the text out of an output: its strings, its numbers and its keys, each with its label. */
import { isJsonObject, type JsonValue } from '../json/index.ts';
import type { LabelNode } from './labels.ts';
import type { OutputOrigin } from './origin.ts';
import type { OutputLabels } from './output-labels.ts';
import { withoutLeafEnds } from './text.ts';

/** The texts of one output that have the same origin and vouch in the same way. */
export interface LeafTexts {
  readonly leaves: string[];
  /** For each leaf, the container that holds it. */
  readonly within: number[];
  /**
   * For each leaf, its key or index in the container; undefined for a key of the container itself.
   */
  readonly keys: (string | number | undefined)[];
  chars: number;
}

/** The texts of an output, by their trust. */
export interface OutputTexts {
  /** Vouches for values that are a part of it. */
  readonly trusted: LeafTexts;
  /** Each leaf vouches only for the whole of itself. */
  readonly trustedFields: LeafTexts;
  readonly untrusted: LeafTexts;
  readonly containers: Containers;
  /** Whether some text was left out because it did not fit. */
  readonly isCut: boolean;
}

/** The objects and arrays of an output, as a tree from which paths are read. */
export class Containers {
  readonly #parents: number[] = [-1];
  readonly #keys: (string | number)[] = [''];

  add(parent: number, key: string | number): number {
    this.#keys.push(key);
    return this.#parents.push(parent) - 1;
  }

  /** The path of a container or of a member of it; undefined for the output itself. */
  path(container: number, key: string | number | undefined): string | undefined {
    const names = key === undefined ? [] : [key];
    for (let at = container; at > 0; at = this.#parents[at] as number)
      names.push(this.#keys[at] as string | number);
    return names.length === 0 ? undefined : names.reverse().join('.');
  }
}

/** Added for each leaf to its characters. */
export const leafOverhead = 16;
/**
 * Longer texts are not parsed, since that would block the process. They are remembered as they are.
 */
const longestJson = 1_048_576;
/** Values that are nested deeper are not remembered. */
const maxDepth = 500;

/**
 * Longer than 60 lines, since all of it fills the same lists.
 * @param room the most characters to take; text beyond is left out, whole leaves at a time
 */
export function textsOf(output: JsonValue, labels: OutputLabels, room: number): OutputTexts {
  const { fields, mixed } = labels;
  const isApart = mixed && fields !== undefined;
  const containers = new Containers();
  const trusted = newTexts();
  const trustedFields = newTexts();
  const untrusted = newTexts();
  const keysTaken = new Map<LeafTexts, Set<string>>();
  let left = room;

  /** The list for text with this label. Unlabelled text of a trusted tool may be a part. */
  const listFor = (label: OutputOrigin | undefined): LeafTexts => {
    if ((label ?? labels.origin) === 'untrusted') return untrusted;
    return label === 'trusted' || mixed ? trustedFields : trusted;
  };
  const take = (list: LeafTexts, text: string, within: number, key?: string | number): void => {
    if (text === '') return;
    left -= text.length + leafOverhead;
    if (left < 0) return;
    list.leaves.push(withoutLeafEnds(text));
    list.within.push(within);
    list.keys.push(key);
    list.chars += text.length + leafOverhead;
  };
  /** The keys of an object have the label of the object. The same key is taken once. */
  const takeKey = (list: LeafTexts, key: string, within: number): void => {
    let taken = keysTaken.get(list);
    if (taken === undefined) {
      taken = new Set();
      keysTaken.set(list, taken);
    }
    if (taken.has(key)) return;
    taken.add(key);
    take(list, key, within);
  };
  const walk = (
    value: JsonValue,
    node: LabelNode<OutputOrigin> | undefined,
    above: OutputOrigin | undefined,
    within: number,
    key: string | number | undefined,
    depth: number,
  ): void => {
    const label = node?.label ?? above;
    const list = listFor(label);
    if (typeof value === 'string') {
      const parsed = parseJson(value);
      // A text instead of fields. It is unknown which field each part of it comes from.
      if (parsed === undefined)
        take(depth === 0 && isApart && label === undefined ? untrusted : list, value, within, key);
      // The fields of an output that is JSON in a text have labels. JSON inside a field has only
      // the label of the field.
      else walk(parsed, depth === 0 ? node : undefined, label, within, key, depth + 1);
    } else if (typeof value === 'number') take(list, String(value), within, key);
    else if (typeof value === 'object' && value !== null && depth < maxDepth && left >= 0) {
      const here = key === undefined ? within : containers.add(within, key);
      const below = (name: string | number) =>
        node === undefined || fields === undefined ? undefined : fields.child(node, name);
      if (Array.isArray(value)) {
        const each = node?.hasPlaces === true ? undefined : below(0);
        for (let index = 0; index < value.length && left >= 0; index++)
          walk(value[index] as JsonValue, each ?? below(index), label, here, index, depth + 1);
      } else if (isJsonObject(value))
        for (const name of Object.keys(value)) {
          takeKey(list, name, here);
          walk(value[name] as JsonValue, below(name), label, here, name, depth + 1);
        }
    }
  };
  walk(output, fields?.root, undefined, 0, undefined, 0);
  return { trusted, trustedFields, untrusted, containers, isCut: left < 0 };
}

function newTexts(): LeafTexts {
  return { leaves: [], within: [], keys: [], chars: 0 };
}

/** The value of a text that is a JSON object or array; undefined for any other text. */
function parseJson(text: string): JsonValue | undefined {
  if (text.length > longestJson || !/^\s*[{[]/.test(text) || isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Whether JSON is nested deeper than is remembered. Parsing very deep text takes long. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isString) {
      if (code === 92) at++;
      else if (code === 34) isString = false;
    } else if (code === 34) isString = true;
    else if (code === 91 || code === 123) {
      if (++depth > maxDepth) return true;
    } else if (code === 93 || code === 125) depth--;
  }
  return false;
}

/** The strings, numbers and keys of an input, each key once. */
export function leavesOf(input: JsonValue): string[] {
  const leaves: string[] = [];
  const keys = new Set<string>();
  const walk = (value: JsonValue, depth: number): void => {
    if (typeof value === 'string') {
      if (value !== '') leaves.push(withoutLeafEnds(value));
      const parsed = parseJson(value);
      if (parsed !== undefined) walk(parsed, depth + 1);
    } else if (typeof value === 'number') leaves.push(String(value));
    else if (typeof value === 'object' && value !== null && depth < maxDepth) {
      if (!Array.isArray(value)) for (const key of Object.keys(value)) keys.add(key);
      for (const member of Object.values(value)) walk(member as JsonValue, depth + 1);
    }
  };
  walk(input, 0);
  for (const key of keys) leaves.push(withoutLeafEnds(key));
  return leaves;
}

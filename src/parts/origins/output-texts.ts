/** Takes the text out of an output: its strings, its numbers and its keys, each with its label. */
import type { OutputOrigin, SeenAt } from '../../api/origins.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { withoutControls } from '../../values/text/characters.ts';
import type { Echoes } from './echoes.ts';
import { JsonTexts, maxDepth, unescaped, unread } from './json-texts.ts';
import type { LabelNode } from './labels.ts';
import type { OutputLabels } from './output-labels.ts';
import type { Block } from './shelf.ts';
import { leafEnd, withoutLeafEnds } from './text.ts';

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
class Containers {
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

/** Added for each leaf to its characters, and for each container with a leaf in it. */
export const leafOverhead = 16;

interface TakenTexts extends LeafTexts {
  /** The keys in it. The same key is taken once. */
  readonly taken: Set<string>;
}

/**
 * Longer than 60 lines, since all of it fills the same lists.
 * @param room the most characters to take; text beyond is left out, whole leaves at a time
 */
export function textsOf(output: JsonValue, labels: OutputLabels, room: number): OutputTexts {
  const { fields, mixed } = labels;
  const texts = new JsonTexts();
  const containers = new Containers();
  const trusted = newTexts();
  const trustedFields = newTexts();
  const untrusted = newTexts();
  let left = room;

  /** The list for text with this label. Unlabelled text of a trusted tool may be a part. */
  const listFor = (label: OutputOrigin | undefined): TakenTexts => {
    if ((label ?? labels.origin) === 'untrusted') return untrusted;
    return label === 'trusted' || mixed ? trustedFields : trusted;
  };
  /** The containers around the present value. They are added once they have a leaf. */
  const opened = [0];
  const names: (string | number)[] = [''];
  const containerAt = (level: number): number => {
    const known = opened[level] as number;
    if (known !== -1) return known;
    left -= leafOverhead;
    const added = containers.add(containerAt(level - 1), names[level] as string | number);
    opened[level] = added;
    return added;
  };
  const take = (list: TakenTexts, text: string, level: number, key?: string | number): void => {
    if (text === '' || left < 0) return;
    const before = left;
    const within = containerAt(level);
    left -= text.length + leafOverhead;
    if (left < 0) return;
    // A model is shown untrusted text without them, so the words around one are a single word.
    list.leaves.push(list === untrusted ? withoutControls(text) : withoutLeafEnds(text));
    list.within.push(within);
    list.keys.push(key);
    list.chars += before - left;
  };
  /** The keys of an object have the label of the object. */
  const takeKey = (list: TakenTexts, key: string, level: number): void => {
    if (list.taken.has(key)) return;
    list.taken.add(key);
    take(list, key, level);
  };
  const takeText = (
    text: string,
    node: LabelNode<OutputOrigin> | undefined,
    label: OutputOrigin | undefined,
    level: number,
    key: string | number | undefined,
    depth: number,
  ): void => {
    const parsed = texts.read(text);
    // The fields of an output that is JSON in a text have labels. JSON inside a field has only the
    // label of the field. A text that the schema allows instead of fields may come from anyone.
    if (parsed !== undefined && parsed !== unread) {
      const isForeign = depth === 0 && mixed && label === undefined && allowsText(node);
      if (isForeign) return walk(parsed, undefined, 'untrusted', level, key, depth + 1);
      return walk(parsed, depth === 0 ? node : undefined, label, level, key, depth + 1);
    }
    // A text instead of fields. It is unknown which field each part of it comes from.
    const isApart = fields !== undefined && (mixed || parsed === unread);
    const list = depth === 0 && isApart && label === undefined ? untrusted : listFor(label);
    const isHidden = list === untrusted && parsed === unread;
    take(list, isHidden ? unescaped(text) : text, level, key);
  };
  const walk = (
    value: JsonValue,
    node: LabelNode<OutputOrigin> | undefined,
    above: OutputOrigin | undefined,
    level: number,
    key: string | number | undefined,
    depth: number,
  ): void => {
    const label = node?.label ?? above;
    if (typeof value === 'string') return takeText(value, node, label, level, key, depth);
    if (typeof value === 'number') return take(listFor(label), String(value), level, key);
    if (typeof value !== 'object' || value === null || depth >= maxDepth) return;
    let here = level;
    if (key !== undefined) {
      opened[++here] = -1;
      names[here] = key;
    }
    const labelled = fields === undefined ? undefined : node;
    if (Array.isArray(value)) {
      const each =
        labelled === undefined || labelled.hasPlaces ? undefined : fields?.child(labelled, 0);
      for (let index = 0; index < value.length && left >= 0; index++) {
        const below = each ?? (labelled === undefined ? undefined : fields?.child(labelled, index));
        walk(value[index] as JsonValue, below, label, here, index, depth + 1);
      }
    } else if (isJsonObject(value)) {
      const list = listFor(label);
      for (const name of Object.keys(value)) {
        if (left < 0) return;
        takeKey(list, name, here);
        const below = labelled === undefined ? undefined : fields?.child(labelled, name);
        walk(value[name] as JsonValue, below, label, here, name, depth + 1);
      }
    }
  };
  walk(output, fields?.root, undefined, 0, undefined, 0);
  return { trusted, trustedFields, untrusted, containers, isCut: left < 0 };
}

/** Whether a schema describes fields, and allows a text without any instead. */
function allowsText(node: LabelNode<OutputOrigin> | undefined): boolean {
  const parts = node?.parts ?? [];
  return parts.some((part) => hasAny(part, fieldKeywords)) && parts.some(isOfText);
}

const fieldKeywords = ['properties', 'additionalProperties', 'patternProperties', 'items'];
const otherKeywords = ['anyOf', 'oneOf', 'allOf', 'if', '$ref', '$dynamicRef', 'enum', 'const'];

function isOfText(part: JsonObject): boolean {
  if (Object.hasOwn(part, 'type')) return [part.type].flat().includes('string');
  return !hasAny(part, fieldKeywords) && !hasAny(part, otherKeywords);
}

function hasAny(part: JsonObject, keywords: readonly string[]): boolean {
  return keywords.some((keyword) => Object.hasOwn(part, keyword));
}

function newTexts(): TakenTexts {
  return { leaves: [], within: [], keys: [], chars: 0, taken: new Set() };
}

// The texts of one output as a record keeps them, and the place in the output where a text
// occurred.

/** What is known about the texts of one output. */
export interface OutputPart {
  readonly callId: string;
  readonly toolName: string;
  readonly containers: Containers;
  readonly texts: Pick<LeafTexts, 'within' | 'keys'>;
  /** Whether each leaf vouches only for the whole of itself. */
  readonly onlyWhole: boolean;
  /** What the output may repeat. Undefined if nothing is known about the call. */
  readonly echoes: Echoes | undefined;
  /** Where each leaf begins. Computed on first use. */
  starts: Int32Array | undefined;
}

/** The call, and the path in its output, for a place in a remembered text. */
export function seenAt({ text, about }: Block<OutputPart>, at: number): SeenAt {
  const { callId, toolName, containers, texts } = about;
  about.starts ??= leafStarts(text, texts.within.length);
  const starts = about.starts;
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= at) low = middle;
    else high = middle - 1;
  }
  const path = containers.path(texts.within[low] as number, texts.keys[low]);
  return path === undefined ? { callId, toolName } : { callId, toolName, path };
}

function leafStarts(text: string, count: number): Int32Array {
  const starts = new Int32Array(count);
  for (let leaf = 1, at = 0; leaf < count; leaf++) {
    at = text.indexOf(leafEnd, at) + 1;
    starts[leaf] = at;
  }
  return starts;
}

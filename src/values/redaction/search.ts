/**
 * Finds many forms in a text at once, in time that grows only with the text (Aho-Corasick). Both
 * the forms and the text may come from a model, so neither may make the search slow. The case of
 * ASCII letters is ignored.
 */
import { type Budget, spend } from './budget.ts';

/**
 * Longer forms are found by their first characters and then compared one by one, because an
 * automaton of whole documents would take too long to build.
 */
export const longestPrefix = 32;

/** Steps for one node of the automaton. */
const nodeSteps = 5;

/** A form to search for. */
export interface Form {
  /** The form, or its first {@link longestPrefix} characters. */
  readonly prefix: string;
  /**
   * Writes the whole form, if it is longer than its prefix. Called when the prefix was found in a
   * text; charges its own cost.
   */
  readonly whole: ((budget: Budget) => string) | undefined;
}

/** Long forms with the same prefix. */
interface LongForms {
  readonly forms: ((budget: Budget) => string)[];
  /** The forms without duplicates. Filled when their prefix is first found. */
  wholes: ReadonlySet<string> | undefined;
}

export interface Search {
  /**
   * For each index of the text, the length of the longest form that starts there. Forms may
   * overlap. Undefined if there is none.
   */
  find(text: string, budget: Budget): Int32Array | undefined;
}

/**
 * Builds the automaton. It has about as many nodes as the prefixes have characters.
 * Longer than 60 lines, since both halves work on the same flat arrays.
 */
export function createSearch(forms: readonly Form[], budget: Budget): Search {
  let most = 1;
  for (const { prefix } of forms) most += prefix.length;
  spend(budget, most * nodeSteps);
  const edges = createEdges(most);
  /**
   * For each node, the length of the form that ends there, or of the longest one that its text ends
   * with.
   */
  const ends = new Int32Array(most);
  const longOf = new Map<number, LongForms>();
  let nodes = 1;
  for (const form of forms) {
    let node = 0;
    for (let at = 0; at < form.prefix.length; at++) {
      const unit = folded(form.prefix.charCodeAt(at));
      let next = edges.get(node, unit);
      if (next === -1) {
        next = nodes++;
        edges.set(node, unit, next);
      }
      node = next;
    }
    if (form.whole === undefined) ends[node] = form.prefix.length;
    else {
      const same = longOf.get(node);
      if (same === undefined) longOf.set(node, { forms: [form.whole], wholes: undefined });
      else same.forms.push(form.whole);
    }
  }
  const fallback = linkNodes(edges, nodes, ends);

  return {
    find(text, budget) {
      spend(budget, text.length + 1);
      let lengths: Int32Array | undefined;
      let hits: Map<LongForms, number[]> | undefined;
      let node = 0;
      for (let at = 0; at < text.length; at++) {
        const unit = folded(text.charCodeAt(at));
        let next = edges.get(node, unit);
        while (next === -1 && node !== 0) {
          node = fallback[node] as number;
          next = edges.get(node, unit);
        }
        if (next === -1) continue;
        node = next;
        const length = ends[node] as number;
        if (length > 0) {
          lengths ??= new Int32Array(text.length);
          // Of two forms from the same index, the one that ends later is longer.
          lengths[at + 1 - length] = length;
        }
        if (longOf.size > 0) {
          // No node is deeper than the prefix of a long form, so no other node's text ends with it.
          const long = longOf.get(node);
          if (long !== undefined) {
            hits ??= new Map();
            const starts = hits.get(long);
            if (starts === undefined) hits.set(long, [at + 1 - longestPrefix]);
            else starts.push(at + 1 - longestPrefix);
          }
        }
      }
      for (const [long, starts] of hits ?? []) {
        long.wholes ??= new Set(long.forms.map((form) => form(budget)));
        for (const whole of long.wholes) {
          const found = lengths ?? new Int32Array(text.length);
          if (findLong(text, whole, starts, found, budget)) lengths = found;
        }
      }
      return lengths;
    },
  };
}

/**
 * For each node, the node of the longest proper suffix of its text that is also the prefix of a
 * form.
 */
function linkNodes(edges: Edges, nodes: number, ends: Int32Array): Int32Array {
  const fallback = new Int32Array(nodes);
  const { parents, units } = edges;
  // The computation must go breadth-first, but nodes are numbered by form, so they are sorted by
  // depth.
  const depths = new Uint8Array(nodes);
  const buckets: number[][] = Array.from({ length: longestPrefix + 1 }, () => []);
  for (let node = 1; node < nodes; node++) {
    const depth = (depths[parents[node] as number] as number) + 1;
    depths[node] = depth;
    (buckets[depth] as number[]).push(node);
  }
  for (const bucket of buckets) {
    for (const node of bucket) {
      const parent = parents[node] as number;
      const unit = units[node] as number;
      let from = parent;
      let next = -1;
      while (next === -1 && from !== 0) {
        from = fallback[from] as number;
        next = edges.get(from, unit);
      }
      if (next !== -1) fallback[node] = next;
      if (ends[node] === 0) ends[node] = ends[fallback[node] as number] as number;
    }
  }
  return fallback;
}

interface Edges {
  /** The node that a character leads to, or -1. */
  get(node: number, unit: number): number;
  set(node: number, unit: number, child: number): void;
  /** For each node, the node and the character that lead to it. */
  readonly parents: Int32Array;
  readonly units: Uint16Array;
}

/**
 * The edges of the automaton as one hash table in flat arrays. The most common edges of the root
 * are in a plain table.
 */
function createEdges(most: number): Edges {
  const bits = Math.max(4, 32 - Math.clz32(most * 2));
  const mask = (1 << bits) - 1;
  const slots = new Int32Array(1 << bits);
  const parents = new Int32Array(most);
  const units = new Uint16Array(most);
  const roots = new Int32Array(256).fill(-1);
  // A random seed keeps anyone from choosing secrets that collide.
  const seed = (Math.random() * 0x1_0000_0000) | 1;
  const slotOf = (node: number, unit: number): number => {
    const mixed = Math.imul(Math.imul(node + 1, 0x9e3779b1) ^ (unit + seed), 0x85ebca6b ^ seed);
    return (mixed ^ (mixed >>> 15)) & mask;
  };
  return {
    parents,
    units,
    get(node, unit) {
      if (node === 0 && unit < 256) return roots[unit] as number;
      for (let slot = slotOf(node, unit); ; slot = (slot + 1) & mask) {
        const child = slots[slot] as number;
        if (child === 0) return -1;
        if (parents[child] === node && units[child] === unit) return child;
      }
    },
    set(node, unit, child) {
      parents[child] = node;
      units[child] = unit;
      if (node === 0 && unit < 256) {
        roots[unit] = child;
        return;
      }
      let slot = slotOf(node, unit);
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = child;
    },
  };
}

/**
 * Records where a long form occurs in a text, given where its prefix occurs, and returns whether it
 * does. Forms with the same prefix mostly differ soon after it, so the indexes are compared one by
 * one. Once that costs more than a search in linear time, that search does the rest.
 */
function findLong(
  text: string,
  form: string,
  starts: readonly number[],
  lengths: Int32Array,
  budget: Budget,
): boolean {
  if (form.length > text.length) return false;
  let compared = 0;
  let isFound = false;
  for (const start of starts) {
    if (compared > text.length / 2) return findEverywhere(text, form, lengths, budget);
    let at = longestPrefix;
    while (at < form.length && folded(form.charCodeAt(at)) === folded(text.charCodeAt(start + at)))
      at++;
    const steps = at + 1 - longestPrefix;
    spend(budget, steps);
    compared += steps;
    if (at < form.length) continue;
    isFound = true;
    if (form.length > (lengths[start] as number)) lengths[start] = form.length;
  }
  return isFound;
}

/** The search of Knuth, Morris and Pratt. */
function findEverywhere(text: string, form: string, lengths: Int32Array, budget: Budget): boolean {
  spend(budget, form.length + text.length);
  const fallback = new Int32Array(form.length);
  for (let at = 1, matched = 0; at < form.length; at++) {
    const unit = folded(form.charCodeAt(at));
    while (matched > 0 && unit !== folded(form.charCodeAt(matched)))
      matched = fallback[matched - 1] as number;
    if (unit === folded(form.charCodeAt(matched))) matched++;
    fallback[at] = matched;
  }
  let isFound = false;
  for (let at = 0, matched = 0; at < text.length; at++) {
    const unit = folded(text.charCodeAt(at));
    while (matched > 0 && unit !== folded(form.charCodeAt(matched)))
      matched = fallback[matched - 1] as number;
    if (unit === folded(form.charCodeAt(matched))) matched++;
    if (matched < form.length) continue;
    isFound = true;
    const start = at + 1 - form.length;
    if (form.length > (lengths[start] as number)) lengths[start] = form.length;
  }
  return isFound;
}

/** Lower-cases an ASCII letter. */
function folded(unit: number): number {
  return unit >= 65 && unit <= 90 ? unit + 32 : unit;
}

/**
 * Everything that the schema and the paths say about one value, as one state. A walk over a value
 * asks a state for the next one. Answers are kept, so that a schema in which a thousand parts apply
 * to the same value costs its thousand steps once and not for each value.
 */
import { type Budget, spend } from './budget.ts';
import type { SecretNode } from './secret-paths.ts';

/** What is known about a value at one place. */
export interface SecretState {
  readonly nodes: readonly SecretNode[];
  /** Whether the value is secret. */
  readonly marked: boolean;
  /** Whether a mark or a path may lead further into the value. */
  readonly deep: boolean;
  /** Whether a schema leads further, so that the value should be an object or an array. */
  readonly structured: boolean;
  /** Every key that some node lists. Filled when first needed. */
  names: ReadonlySet<string> | undefined;
  /** How many leading elements of an array some schema lists. */
  readonly places: number;
  readonly children: Map<string, SecretState>;
  /** For a key that no node lists. */
  otherChild: SecretState | undefined;
  readonly items: Map<number, SecretState>;
  /** For an element after all that are listed. */
  otherItem: SecretState | undefined;
}

export interface SecretStates {
  root(budget: Budget): SecretState;
  /** The state of an object's member. */
  child(state: SecretState, key: string, budget: Budget): SecretState;
  /** The state of an array's element. */
  item(state: SecretState, index: number, budget: Budget): SecretState;
}

/**
 * The most nodes in all kept states. Nodes can be combined in more ways than memory can hold;
 * beyond this number, states are dropped and computed again.
 */
const maxKept = 200_000;
/** Steps for each node that a new state is made from. */
const nodeSteps = 5;

/**
 * Computes the states of one schema and its paths as values need them. Longer than 60 lines, since
 * all of it shares the table of kept states.
 */
export function createStates(root: readonly SecretNode[]): SecretStates {
  const nothing = createState([]);
  const ids = new Map<SecretNode, number>();
  let states = new Map<string, SecretState>();
  let first: SecretState | undefined;
  let kept = 0;

  /** The one state for these nodes and all others that apply to the same value. */
  function stateOf(nodes: readonly SecretNode[], budget: Budget): SecretState {
    const all = new Set(nodes);
    spend(budget, nodes.length * nodeSteps);
    // Iterating a Set visits members added meanwhile, each once, so cycles of references end here.
    for (const node of all) {
      spend(budget, (1 + node.also.length) * nodeSteps);
      for (const other of node.also) all.add(other);
    }
    // A node that only refers to others is no longer needed.
    const relevant = [...all].filter((node) => node.marked || leadsDeeper(node));
    if (relevant.length === 0) return nothing;
    const key = relevant
      .map((node) => idOf(node))
      .sort((a, b) => a - b)
      .join();
    const known = states.get(key);
    if (known !== undefined) return known;
    kept += relevant.length + 1;
    if (kept > maxKept) {
      states = new Map();
      first = undefined;
      kept = relevant.length + 1;
    }
    const state = createState(relevant);
    states.set(key, state);
    return state;
  }

  function idOf(node: SecretNode): number {
    const id = ids.get(node) ?? ids.size;
    ids.set(node, id);
    return id;
  }

  return {
    root(budget) {
      first ??= stateOf(root, budget);
      return first;
    },
    child(state, key, budget) {
      if (!state.deep) return nothing;
      state.names ??= namesOf(state.nodes, budget);
      if (!state.names.has(key)) {
        state.otherChild ??= stateOf(membersOf(state.nodes, key, budget), budget);
        return state.otherChild;
      }
      let next = state.children.get(key);
      if (next === undefined) {
        next = stateOf(membersOf(state.nodes, key, budget), budget);
        state.children.set(key, next);
      }
      return next;
    },
    item(state, index, budget) {
      if (!state.deep) return nothing;
      state.names ??= namesOf(state.nodes, budget);
      // A path names an index in the same way as a key.
      if (index >= state.places && (state.names.size === 0 || !state.names.has(String(index)))) {
        state.otherItem ??= stateOf(elementsOf(state.nodes, index, budget), budget);
        return state.otherItem;
      }
      let next = state.items.get(index);
      if (next === undefined) {
        next = stateOf(elementsOf(state.nodes, index, budget), budget);
        state.items.set(index, next);
      }
      return next;
    },
  };
}

function createState(nodes: readonly SecretNode[]): SecretState {
  let places = 0;
  for (const { prefix } of nodes) places = Math.max(places, prefix.length);
  return {
    nodes,
    marked: nodes.some((node) => node.marked),
    deep: nodes.some(leadsDeeper),
    structured: nodes.some((node) => !node.path && leadsDeeper(node)),
    names: undefined,
    places,
    children: new Map(),
    otherChild: undefined,
    items: new Map(),
    otherItem: undefined,
  };
}

function leadsDeeper(node: SecretNode): boolean {
  return (
    node.properties.size +
      node.patterns.length +
      node.otherProperties.length +
      node.prefix.length +
      node.otherItems.length +
      node.everyItem.length >
      0 || node.each !== undefined
  );
}

function namesOf(nodes: readonly SecretNode[], budget: Budget): ReadonlySet<string> {
  if (nodes.length === 1) return new Set((nodes[0] as SecretNode).properties.keys());
  const names = new Set<string>();
  for (const { properties } of nodes) {
    spend(budget, properties.size * nodeSteps);
    for (const name of properties.keys()) names.add(name);
  }
  return names;
}

/** The nodes that may apply to a member. */
function membersOf(nodes: readonly SecretNode[], key: string, budget: Budget): SecretNode[] {
  const next: SecretNode[] = [];
  for (const node of nodes) {
    spend(budget, (1 + node.patterns.length + node.otherProperties.length) * nodeSteps);
    const named = node.properties.get(key);
    if (named !== undefined) next.push(named);
    if (!node.path) {
      if (named === undefined) next.push(...node.otherProperties);
      // Any pattern may match a key that is not listed.
      for (const pattern of node.patterns)
        if (named === undefined || pattern.test(key, budget)) next.push(pattern.node);
    }
    if (node.each !== undefined) next.push(node.each);
  }
  return next;
}

/** The nodes that may apply to an element. */
function elementsOf(nodes: readonly SecretNode[], index: number, budget: Budget): SecretNode[] {
  const next: SecretNode[] = [];
  for (const node of nodes) {
    spend(budget, (1 + node.otherItems.length + node.everyItem.length) * nodeSteps);
    if (node.path) {
      // A path enters arrays by itself.
      next.push(node);
      const named = node.properties.get(String(index));
      if (named !== undefined) next.push(named);
      if (node.each !== undefined) next.push(node.each);
    } else {
      const placed = node.prefix[index];
      if (placed !== undefined) next.push(placed);
      else next.push(...node.otherItems);
      next.push(...node.everyItem);
    }
  }
  return next;
}

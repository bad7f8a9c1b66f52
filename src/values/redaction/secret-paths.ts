/**
 * Where a schema and a host's paths mark fields as secret, as a graph that values are walked with.
 */
import { describe, MisuseError } from '../errors/index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { followReference } from '../schema/local-reference.ts';
import { compilePattern } from '../text/regex.ts';
import { type Budget, spend } from './budget.ts';

/** A sub-schema, or a step of a dotted path, reduced to what decides which values are secret. */
export interface SecretNode {
  marked: boolean;
  /** Whether this is a step of a path: it matches keys and indexes, and enters arrays by itself. */
  readonly path: boolean;
  readonly properties: Map<string, SecretNode>;
  readonly patterns: {
    test: (key: string, budget: Budget) => boolean;
    readonly node: SecretNode;
  }[];
  /** Apply to keys that `properties` does not list. */
  otherProperties: SecretNode[];
  prefix: SecretNode[];
  /** Apply to elements after `prefix`. */
  otherItems: SecretNode[];
  everyItem: SecretNode[];
  /** Applies to any one key or index (`*` in a path). */
  each: SecretNode | undefined;
  /** Apply to the same value: branches, conditions, references. */
  also: SecretNode[];
}

export interface SecretPaths {
  readonly root: readonly SecretNode[];
  /** Keys that are secret at any depth. */
  readonly anyDepth: ReadonlySet<string>;
}

/** Represents a listed name or position that leads to no mark. */
const inert = Object.freeze(createNode(false));

/** Undefined when nothing is marked. */
export function compileSecretPaths(
  schema: JsonObject | boolean | undefined,
  paths: readonly string[],
): SecretPaths | undefined {
  const anyDepth = new Set<string>();
  const root: SecretNode[] = [];
  const pathRoot = compilePaths(paths, anyDepth);
  if (pathRoot !== undefined) root.push(pathRoot);
  if (isJsonObject(schema)) root.push(...compileSchema(schema));
  return root.length === 0 && anyDepth.size === 0 ? undefined : { root, anyDepth };
}

function createNode(path: boolean): SecretNode {
  return {
    marked: false,
    path,
    properties: new Map(),
    patterns: [],
    otherProperties: [],
    prefix: [],
    otherItems: [],
    everyItem: [],
    each: undefined,
    also: [],
  };
}

function compilePaths(paths: readonly string[], anyDepth: Set<string>): SecretNode | undefined {
  let root: SecretNode | undefined;
  for (const path of paths) {
    if (typeof path !== 'string' || path.split('.').includes('')) {
      throw new MisuseError(
        'invalid_option',
        `Expected a \`redact\` path to be names joined by dots, none of them empty, got ` +
          `${describe(path)}`,
      );
    }
    if (path !== '*' && !path.includes('.')) {
      anyDepth.add(path);
      continue;
    }
    root ??= createNode(true);
    let node = root;
    for (const segment of path.split('.')) {
      if (segment === '*') {
        node.each ??= createNode(true);
        node = node.each;
      } else {
        const next: SecretNode = node.properties.get(segment) ?? createNode(true);
        node.properties.set(segment, next);
        node = next;
      }
    }
    node.marked = true;
    // A key that contains the dots is another spelling of the same field.
    root.properties.set(path, node);
  }
  return root;
}

/** Keywords whose value is a schema that applies to the same value, or a list or map of them. */
const sameValue = [
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'then',
  'else',
  'not',
  'dependentSchemas',
  'dependencies',
];
const references = ['$ref', '$dynamicRef', '$recursiveRef'];

/**
 * The node of the root, if a mark can be reached from it. It uses a work list instead of recursion,
 * so that depth has no limit and cycles end.
 */
function compileSchema(schema: JsonObject): readonly SecretNode[] {
  const nodes = new Map<JsonObject, SecretNode>();
  const pending: JsonObject[] = [];
  const nodeOf = (part: unknown): SecretNode[] => {
    if (!isJsonObject(part)) return [];
    let node = nodes.get(part);
    if (node === undefined) {
      node = createNode(false);
      nodes.set(part, node);
      pending.push(part);
    }
    return [node];
  };
  nodeOf(schema);
  for (let part = pending.pop(); part !== undefined; part = pending.pop())
    fill(nodes.get(part) as SecretNode, part, nodeOf, schema);
  const live = reachMarks([...nodes.values()]);
  for (const node of live) prune(node, live);
  let tested = 0;
  for (const { patterns } of live)
    for (const pattern of patterns) if (++tested > maxPatterns) pattern.test = () => true;
  return [...nodes.values()].slice(0, 1).filter((node) => live.has(node));
}

function fill(
  node: SecretNode,
  part: JsonObject,
  of: (part: unknown) => SecretNode[],
  document: JsonObject,
): void {
  const own = (keyword: string): unknown =>
    Object.hasOwn(part, keyword) ? part[keyword] : undefined;
  const map = (keyword: string): [string, unknown][] => {
    const value = own(keyword);
    return isJsonObject(value) ? Object.entries(value) : [];
  };
  const list = (keyword: string): readonly unknown[] => {
    const value = own(keyword);
    return Array.isArray(value) ? value : [];
  };
  node.marked = own('x-secret') === true || own('secret') === true;
  for (const [name, child] of map('properties'))
    for (const next of of(child)) node.properties.set(name, next);
  // A name with a boolean schema is still listed.
  for (const [name, child] of map('properties'))
    if (!isJsonObject(child)) node.properties.set(name, inert);
  for (const [pattern, child] of map('patternProperties'))
    for (const next of of(child)) node.patterns.push({ test: patternTest(pattern), node: next });
  node.otherProperties = [...of(own('additionalProperties')), ...of(own('unevaluatedProperties'))];
  const tuple = list('prefixItems').length > 0 ? list('prefixItems') : list('items');
  node.prefix = tuple.map((child) => of(child)[0] ?? inert);
  node.otherItems = [
    ...of(own('items')),
    ...of(own('additionalItems')),
    ...of(own('unevaluatedItems')),
  ];
  node.everyItem = of(own('contains'));
  for (const keyword of sameValue) {
    const value = own(keyword);
    if (Array.isArray(value)) for (const child of value) node.also.push(...of(child));
    else if (keyword.startsWith('depend'))
      for (const [, child] of map(keyword)) node.also.push(...of(child));
    else node.also.push(...of(value));
  }
  for (const keyword of references) {
    const reference = own(keyword);
    if (typeof reference === 'string')
      node.also.push(...targetsOf(reference, part, document).flatMap(of));
  }
}

/**
 * What a reference leads to. If that is not known, it may be any definition: a secret must not be
 * shown because a schema is odd.
 */
function targetsOf(
  reference: string,
  holder: JsonObject,
  document: JsonObject,
): readonly JsonValue[] {
  const target = followReference(reference, holder, document);
  if (target !== undefined) return [target];
  return ['$defs', 'definitions'].flatMap((keyword) => {
    const definitions = Object.hasOwn(document, keyword) ? document[keyword] : undefined;
    return isJsonObject(definitions) ? Object.values(definitions) : [];
  });
}

/**
 * How many patterns of a schema are tested against keys. Any further pattern is taken to match
 * every key, since compiling one can take two milliseconds.
 */
const maxPatterns = 8;
const patternSteps = 50_000;

/**
 * Compiles the pattern when a listed key is first tested against it. A pattern that cannot be read
 * is taken to match every key.
 */
function patternTest(pattern: string): (key: string, budget: Budget) => boolean {
  let compiled: { readonly test: (key: string) => boolean; readonly size: number } | undefined;
  return (key, budget) => {
    if (compiled === undefined) {
      spend(budget, patternSteps);
      try {
        const { matcher, size } = compilePattern(pattern, { trusted: false });
        compiled = { test: (text) => matcher.test(text), size };
      } catch {
        compiled = { test: () => true, size: 0 };
      }
    }
    spend(budget, key.length * compiled.size + 1);
    return compiled.test(key);
  };
}

function edges(node: SecretNode): readonly SecretNode[] {
  return [
    ...node.properties.values(),
    ...node.patterns.map((pattern) => pattern.node),
    ...node.otherProperties,
    ...node.prefix,
    ...node.otherItems,
    ...node.everyItem,
    ...node.also,
  ];
}

/** The nodes that lead to a mark. */
function reachMarks(nodes: readonly SecretNode[]): Set<SecretNode> {
  const users = new Map<SecretNode, SecretNode[]>();
  for (const node of nodes) {
    for (const child of edges(node)) {
      const list = users.get(child);
      if (list === undefined) users.set(child, [node]);
      else list.push(node);
    }
  }
  const live = new Set(nodes.filter((node) => node.marked));
  for (const node of live) for (const user of users.get(node) ?? []) live.add(user);
  return live;
}

/**
 * Drops what leads to no mark. Listed names and positions stay listed, since keywords for the other
 * keys and elements must not apply to them.
 */
function prune(node: SecretNode, live: ReadonlySet<SecretNode>): void {
  const keep = (list: readonly SecretNode[]): SecretNode[] =>
    list.filter((child) => live.has(child));
  for (const [name, child] of node.properties)
    if (!live.has(child)) node.properties.set(name, inert);
  node.patterns.splice(
    0,
    node.patterns.length,
    ...node.patterns.filter((pattern) => live.has(pattern.node)),
  );
  node.otherProperties = keep(node.otherProperties);
  node.prefix = node.prefix.map((child) => (live.has(child) ? child : inert));
  node.otherItems = keep(node.otherItems);
  node.everyItem = keep(node.everyItem);
  node.also = keep(node.also);
}

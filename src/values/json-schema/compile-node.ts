/**
 * Combines the closures of a document: one node for each sub-schema, bound late if schemas refer to
 * each other.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { isLoneReference, type JsonSchemaDocument, keyword } from '../schema/dialect.ts';
import {
  maxSchemaDepth,
  type References,
  type Resource,
  resolveReference,
} from '../schema/references.ts';
import { compilePattern } from '../text/regex.ts';
import { type Check, type Context, charge } from './compile-context.ts';
import {
  addArray,
  addCombinations,
  addObject,
  addUnevaluated,
  addValue,
  checkOf,
  markOf,
  plainOf,
  type Site,
  type Sub,
} from './compile-keywords.ts';
import type { CheckedSchema } from './json-schema-check.ts';
import { type Evaluated, refuseAll } from './keywords-unevaluated.ts';
import type { Pattern } from './keywords-value.ts';

interface Node extends Sub {
  /** False while the node is being made. */
  ready: boolean;
}

interface Build {
  readonly checked: CheckedSchema;
  readonly trusted: boolean;
  readonly nodes: Map<JsonObject, Node>;
  readonly targets: Map<JsonObject, JsonValue>;
  readonly patterns: Map<string, Pattern>;
  /** How many nodes are being made inside each other. */
  depth: number;
}

export interface CompiledNodes {
  readonly check: Check;
  /** The schema that each `$ref` leads to. */
  readonly targets: ReadonlyMap<JsonObject, JsonValue>;
}

/** Compiles a checked document. */
export function compileNodes(
  document: JsonSchemaDocument,
  checked: CheckedSchema,
  trusted: boolean,
): CompiledNodes {
  const build = newBuild(checked, trusted);
  const root = inScope(subOf(document, build), undefined, document, build);
  return { check: root.check ?? (() => true), targets: build.targets };
}

/** Compiles single schemas of a checked document from outside, each when it is asked for. */
export function checksOf(checked: CheckedSchema): (schema: JsonObject) => Check {
  const build = newBuild(checked, false);
  return (schema) => subOf(schema, build).check ?? (() => true);
}

function newBuild(checked: CheckedSchema, trusted: boolean): Build {
  return {
    checked,
    trusted,
    nodes: new Map(),
    targets: new Map(),
    patterns: new Map(),
    depth: 0,
  };
}

const anything: Sub = { check: undefined, mark: undefined };
const nothing: Sub = { check: refuseAll, mark: undefined };

/**
 * The checks of a schema's node, which may be kept. A node that is not ready yet is looked up when
 * its check runs.
 */
function subOf(schema: JsonValue | undefined, build: Build): Sub {
  if (!isJsonObject(schema)) return schema === false ? nothing : anything;
  const known = build.nodes.get(schema);
  const node = known ?? makeNode(schema, build);
  if (node.ready) return node;
  return {
    check: (value, context) => node.check === undefined || node.check(value, context),
    mark: build.checked.hasUnevaluated
      ? (value, context, evaluated) => node.mark?.(value, context, evaluated)
      : undefined,
  };
}

function makeNode(schema: JsonObject, build: Build): Node {
  if (++build.depth > maxSchemaDepth) throw new RangeError('nested too deeply');
  const node: Node = { check: undefined, mark: undefined, ready: false };
  build.nodes.set(schema, node);
  const { dialect, hasUnevaluated, references } = build.checked;
  const site: Site = {
    wantsMarks: hasUnevaluated,
    get: (name) => keyword(schema, name, dialect),
    child: (child) => inScope(subOf(child, build), schema, child, build),
    pattern: (source) => patternOf(source, build),
    gate: undefined,
    checks: [],
    last: undefined,
    marks: [],
    cost: 0,
  };
  const lone = isLoneReference(schema, dialect);
  if (!lone) {
    addValue(site);
    addObject(site);
    addArray(site);
  }
  if (references !== undefined) addReferences(site, schema, references, build);
  if (!lone) {
    addCombinations(site);
    addUnevaluated(site);
  }
  node.check = checkOf(site);
  node.mark = markOf(site);
  node.plain = plainOf(site);
  node.ready = true;
  build.depth--;
  return node;
}

function patternOf(source: string, { patterns, trusted }: Build): Pattern {
  let pattern = patterns.get(source);
  if (pattern === undefined) {
    const { matcher, size } = compilePattern(source, { trusted });
    pattern = { source, matcher, weight: size };
    patterns.set(source, pattern);
  }
  return pattern;
}

function ownerOf(schema: JsonObject, references: References): Resource {
  return references.owner.get(schema) ?? references.main;
}

/**
 * If the document uses `$dynamicRef`, puts the resource of a schema on the scope while the schema
 * is applied.
 */
function inScope(
  sub: Sub,
  from: JsonObject | undefined,
  schema: JsonValue | undefined,
  build: Build,
): Sub {
  const { references, hasDynamicReferences } = build.checked;
  if (!hasDynamicReferences || references === undefined || !isJsonObject(schema)) return sub;
  const resource = ownerOf(schema, references);
  return from !== undefined && ownerOf(from, references) === resource
    ? sub
    : entering(sub, resource);
}

function entering({ check, mark }: Sub, resource: Resource): Sub {
  return {
    check:
      check === undefined
        ? undefined
        : (value, context) => {
            context.scope.push(resource);
            const valid = check(value, context);
            context.scope.pop();
            return valid;
          },
    mark:
      mark === undefined
        ? undefined
        : (value, context, evaluated) => {
            context.scope.push(resource);
            mark(value, context, evaluated);
            context.scope.pop();
          },
  };
}

function addReferences(site: Site, schema: JsonObject, references: References, build: Build): void {
  const from = ownerOf(schema, references);
  const reference = site.get('$ref');
  if (typeof reference === 'string') {
    const target = resolveReference(reference, from, references, '/$ref');
    build.targets.set(schema, target.schema);
    addSub(site, inScope(subOf(target.schema, build), schema, target.schema, build));
  }
  const dynamic = site.get('$dynamicRef');
  if (typeof dynamic === 'string')
    addSub(site, dynamicSub(dynamic, schema, from, references, build));
}

function addSub(site: Site, { check, mark }: Sub): void {
  site.cost += 1;
  if (check !== undefined) site.checks.push(check);
  if (mark !== undefined) site.marks.push(mark);
}

/** Compiles a `$dynamicRef`. It leads into the outermost entered resource that has the anchor. */
function dynamicSub(
  reference: string,
  schema: JsonObject,
  from: Resource,
  references: References,
  build: Build,
): Sub {
  const { schema: found, resource } = resolveReference(reference, from, references, '/$dynamicRef');
  const name = reference.slice(reference.indexOf('#') + 1);
  const fallback = inScope(subOf(found, build), schema, found, build);
  if (resource.dynamicAnchors.get(name) !== found) return fallback;
  const candidates = new Map<Resource, Sub>();
  for (const candidate of references.resources.values()) {
    const anchored = candidate.dynamicAnchors.get(name);
    if (anchored !== undefined)
      candidates.set(candidate, entering(subOf(anchored, build), candidate));
  }
  const choose = (context: Context): Sub => {
    charge(context, 1 + (context.scope.length >> 2));
    for (const entered of context.scope) {
      const sub = candidates.get(entered);
      if (sub !== undefined) return sub;
    }
    return fallback;
  };
  return {
    check: (value, context) => choose(context).check?.(value, context) ?? true,
    mark: build.checked.hasUnevaluated
      ? (value: JsonValue, context: Context, evaluated: Evaluated) =>
          choose(context).mark?.(value, context, evaluated)
      : undefined,
  };
}

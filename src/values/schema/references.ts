/**
 * Resolves `$ref`, `$anchor` and `$id` inside one document. Nothing is ever read from outside it.
 */
import { isJsonObject, type JsonObject, type JsonValue, pointerSegments } from '../json/index.ts';
import {
  childrenOf,
  type Dialect,
  isLoneReference,
  type JsonSchemaDocument,
  schemaError,
} from './dialect.ts';

/**
 * Maximum nesting of sub-schemas, chains of references included. A document has at most 1 000
 * levels. The call stack is not a reliable bound, because the number of frames that fit depends on
 * what the engine has optimised.
 */
export const maxSchemaDepth = 2_000;

/** A schema resource: the document, or a part of it that has its own `$id`. */
export interface Resource {
  readonly uri: string;
  readonly root: JsonSchemaDocument;
  readonly anchors: Map<string, JsonObject>;
  readonly dynamicAnchors: Map<string, JsonObject>;
  /** Names that two schemas claim. A reference to such a name is refused. */
  readonly ambiguous: Set<string>;
}

/** The resources and anchors of a document. */
export interface References {
  readonly main: Resource;
  readonly resources: Map<string, Resource>;
  /** The resource that each schema object belongs to. */
  readonly owner: Map<JsonObject, Resource>;
  readonly ambiguous: Set<string>;
  readonly dialect: Dialect;
}

export interface Target {
  readonly schema: JsonValue;
  readonly resource: Resource;
}

/** The base URI of documents without an `$id`. It is never fetched. */
const baseUri = 'schema://document/';

/** Indexes a document whose keyword values have been checked. */
export function indexReferences(document: JsonSchemaDocument, dialect: Dialect): References {
  const main = newResource(baseUri, document);
  const references: References = {
    main,
    resources: new Map([[baseUri, main]]),
    owner: new Map(),
    ambiguous: new Set(),
    dialect,
  };
  indexSchema(document, main, references, '');
  return references;
}

function newResource(uri: string, root: JsonSchemaDocument): Resource {
  return { uri, root, anchors: new Map(), dynamicAnchors: new Map(), ambiguous: new Set() };
}

/**
 * Returns the resource that the schema belongs to. The first time, indexes the schema and what is
 * below it.
 */
function indexSchema(
  schema: JsonValue,
  parent: Resource,
  references: References,
  pointer: string,
  depth = 0,
): Resource {
  if (!isJsonObject(schema)) return parent;
  if (depth > maxSchemaDepth) throw new RangeError('nested too deeply');
  const { dialect, owner } = references;
  const known = owner.get(schema);
  if (known !== undefined) return known;
  let resource = parent;
  if (!isLoneReference(schema, dialect)) {
    const id = Object.hasOwn(schema, '$id') ? schema.$id : undefined;
    if (typeof id === 'string') resource = openResource(id, schema, parent, references, pointer);
    if (dialect.draft === '2020-12') {
      for (const [word, anchors] of [
        ['$anchor', resource.anchors],
        ['$dynamicAnchor', resource.dynamicAnchors],
      ] as const) {
        const name = Object.hasOwn(schema, word) ? schema[word] : undefined;
        if (typeof name !== 'string') continue;
        addAnchor(resource, name, schema);
        anchors.set(name, schema);
      }
    }
  }
  owner.set(schema, resource);
  for (const child of childrenOf(schema, dialect))
    indexSchema(child.schema, resource, references, pointer + child.pointer, depth + 1);
  return resource;
}

function addAnchor(resource: Resource, name: string, schema: JsonObject): void {
  const other = resource.anchors.get(name);
  if (other !== undefined && other !== schema) resource.ambiguous.add(name);
  resource.anchors.set(name, schema);
}

function openResource(
  id: string,
  schema: JsonObject,
  parent: Resource,
  references: References,
  pointer: string,
): Resource {
  const [location, fragment] = splitReference(id);
  if (fragment !== '' && references.dialect.draft === '2020-12')
    throw schemaError(`${pointer}/$id`, 'an $id has no fragment; use $anchor');
  let resource = parent;
  if (location !== '') {
    const uri = resolveUri(location, parent.uri, `${pointer}/$id`);
    const known = references.resources.get(uri);
    if (known !== undefined && known.root !== schema) references.ambiguous.add(uri);
    resource = newResource(uri, schema);
    references.resources.set(uri, resource);
  }
  if (fragment !== '') addAnchor(resource, fragment, schema);
  return resource;
}

/** Whether a resource can have this `$id`. In draft-07 it may be an anchor. */
export function isIdentifier(id: string, { draft }: Dialect): boolean {
  const [location, fragment] = splitReference(id);
  return URL.canParse(location, baseUri) && (fragment === '' || draft === 'draft-07');
}

function splitReference(reference: string): readonly [location: string, fragment: string] {
  const hash = reference.indexOf('#');
  return hash < 0 ? [reference, ''] : [reference.slice(0, hash), reference.slice(hash + 1)];
}

function resolveUri(location: string, base: string, pointer: string): string {
  try {
    return new URL(location, base).href;
  } catch (error) {
    throw schemaError(pointer, 'is not a URI reference', error);
  }
}

/**
 * Finds the schema that a reference leads to, inside the document.
 * @throws MisuseError `invalid_schema` when it leads outside or nowhere.
 */
export function resolveReference(
  reference: string,
  from: Resource,
  references: References,
  pointer: string,
): Target {
  const [location, fragment] = splitReference(reference);
  let resource = from;
  if (location !== '') {
    const uri = resolveUri(location, from.uri, pointer);
    const found = references.resources.get(uri);
    if (found === undefined)
      throw schemaError(
        pointer,
        'the reference leads outside the document, and nothing is ever fetched; copy the ' +
          'schema that it means into $defs',
      );
    if (references.ambiguous.has(uri))
      throw schemaError(
        pointer,
        'two schemas of the document have this $id; give them different ones',
      );
    resource = found;
  }
  let name: string;
  try {
    name = decodeURIComponent(fragment);
  } catch (error) {
    throw schemaError(pointer, 'the reference is not well encoded', error);
  }
  if (name === '') return { schema: resource.root, resource };
  if (name.startsWith('/')) return followPointer(name, resource, references, pointer);
  const schema = resource.anchors.get(name);
  if (schema === undefined)
    throw schemaError(pointer, 'the reference leads nowhere: no such anchor in the document');
  if (resource.ambiguous.has(name))
    throw schemaError(
      pointer,
      'two schemas of the document have this anchor; give them different ones',
    );
  return { schema, resource };
}

function followPointer(
  path: string,
  start: Resource,
  references: References,
  pointer: string,
): Target {
  let value: JsonValue | undefined = start.root;
  let resource = start;
  for (const key of pointerSegments(path)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key))
      throw schemaError(pointer, 'the reference leads nowhere: no such place in the document');
    if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(key))
      throw schemaError(pointer, 'the reference leads nowhere: no such place in the document');
    value = (value as JsonObject)[key] as JsonValue;
    if (isJsonObject(value)) resource = references.owner.get(value) ?? resource;
  }
  if (typeof value !== 'boolean' && !isJsonObject(value))
    throw schemaError(pointer, 'the reference leads to something that is not a schema');
  // A schema can be in a place that no keyword names. Its own $id and anchors count from here on.
  return { schema: value, resource: indexSchema(value, resource, references, path) };
}

/** References inside one JSON Schema document: `$id`, anchors and pointers. */
import { isJsonObject, type JsonObject } from '../json.ts';

/** One schema with an address of its own. */
export interface Resource {
  readonly root: JsonObject;
  readonly anchors: Map<string, JsonObject>;
}

/** The address of a document that gives itself none. */
export const defaultBase = 'schema:/';

function join(reference: string, base: string): string | undefined {
  try {
    return new URL(reference, base).href;
  } catch {
    return undefined;
  }
}

/**
 * Every resource (`$id`) and anchor of a document by its address; fills `bases` with the address of
 * each part's resource. Fetches nothing.
 */
export function findResources(
  schema: JsonObject,
  bases: Map<object, string>,
): ReadonlyMap<string, Resource> {
  const root: Resource = { root: schema, anchors: new Map() };
  const resources = new Map([[defaultBase, root]]);
  const pending: { part: unknown; base: string; resource: Resource }[] = [
    { part: schema, base: defaultBase, resource: root },
  ];
  const seen = new Set<unknown>();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    let { base, resource } = next;
    const { part } = next;
    if (typeof part !== 'object' || part === null || seen.has(part)) continue;
    seen.add(part);
    if (isJsonObject(part)) {
      const id = Object.hasOwn(part, '$id') ? part.$id : undefined;
      const href =
        typeof id === 'string' && !id.startsWith('#')
          ? join(id, base)?.replace(/#$/, '')
          : undefined;
      if (href !== undefined) {
        base = href;
        resource = { root: part, anchors: new Map() };
        resources.set(base, resource);
      }
      for (const keyword of ['$anchor', '$dynamicAnchor', '$id']) {
        const anchor = Object.hasOwn(part, keyword) ? part[keyword] : undefined;
        if (typeof anchor === 'string' && (keyword !== '$id' || anchor.startsWith('#')))
          resource.anchors.set(anchor.replace(/^#/, ''), part);
      }
    }
    bases.set(part, base);
    for (const child of Object.values(part)) pending.push({ part: child, base, resource });
  }
  return resources;
}

/**
 * The schema that a reference means; undefined where it leads out of the document or to nothing.
 * `base` is the address of the schema that holds it.
 */
export function resolveReference(
  reference: string,
  base: string,
  resources: ReadonlyMap<string, Resource>,
): { schema: JsonObject; base: string } | undefined {
  const hash = reference.indexOf('#');
  const address = hash === -1 ? reference : reference.slice(0, hash);
  const href = address === '' ? base : join(address, base);
  const resource = href === undefined ? undefined : resources.get(href);
  if (href === undefined || resource === undefined) return undefined;
  let fragment = hash === -1 ? '' : reference.slice(hash + 1);
  try {
    fragment = decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
  if (fragment !== '' && !fragment.startsWith('/')) {
    const anchored = resource.anchors.get(fragment);
    return anchored === undefined ? undefined : { schema: anchored, base: href };
  }
  let part: unknown = resource.root;
  for (const token of fragment === '' ? [] : fragment.slice(1).split('/')) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, key)) return undefined;
    part = (part as Record<string, unknown>)[key];
  }
  return isJsonObject(part) ? { schema: part, base: href } : undefined;
}

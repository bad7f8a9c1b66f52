/**
 * What a server says about a result or a part in addition to its content. Members that do not
 * follow the protocol are dropped, because a client would refuse the whole result.
 */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';

/**
 * The metadata of a result, without keys of the protocol, which are about this connection, and
 * without those of this library.
 */
export function metaIn(meta: JsonValue | undefined): { readonly _meta?: JsonObject } {
  if (!isJsonObject(meta)) return {};
  const own = Object.entries(meta).filter(
    ([key]) =>
      key !== 'progressToken' &&
      !/^(?:host-tools|(?:[^/]*\.)?(?:mcp|modelcontextprotocol)(?:\.[^/]*)?)\//.test(key),
  );
  return own.length === 0 ? {} : { _meta: Object.fromEntries(own) };
}

/** The members that a part of any kind may have. */
export function notesIn(part: JsonObject): JsonObject {
  const { annotations, _meta } = part;
  const kept = isJsonObject(annotations) ? annotationsIn(annotations) : {};
  return {
    ...(Object.keys(kept).length === 0 ? {} : { annotations: kept }),
    ...metaIn(_meta),
  };
}

/** The further members of a link. */
export function notesOfLink({ title, description, size }: JsonObject): JsonObject {
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof size === 'number' ? { size } : {}),
  };
}

function annotationsIn({ audience, priority, lastModified }: JsonObject): JsonObject {
  const isAudience =
    Array.isArray(audience) && audience.every((one) => one === 'user' || one === 'assistant');
  const isPriority = typeof priority === 'number' && priority >= 0 && priority <= 1;
  return {
    ...(isAudience ? { audience } : {}),
    ...(isPriority ? { priority } : {}),
    ...(typeof lastModified === 'string' && isTime(lastModified) ? { lastModified } : {}),
  };
}

/** As the package of the protocol reads it: a date and a time with its zone. */
function isTime(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text))
  );
}

/** What an operation sends as its body, and what it answers. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { isJsonType, isMediaType, isTextType, mediaType } from './media.ts';
import type { Style, Writing } from './parameters.ts';
import { membersOf, quoted, refusal, resolved } from './references.ts';
import type { SchemaBundle } from './schemas.ts';

/** How the body is written. */
export interface BodyPlan {
  readonly kind: 'json' | 'form' | 'text';
  /** The value of the header. */
  readonly type: string;
  /** The fields of a form that are not written as by default, by name. */
  readonly fields: Readonly<Record<string, Writing>>;
}

/** The body of an operation, and its schema. */
export interface RequestBody {
  readonly plan: BodyPlan;
  readonly schema: JsonValue;
  readonly required: boolean;
}

const formType = 'application/x-www-form-urlencoded';

/**
 * Reads the body of an operation: JSON if there is a choice, else a form, else a text.
 * @throws MisuseError if it is of none of these kinds
 */
export function readBody(
  operation: JsonObject,
  document: JsonObject,
  bundle: SchemaBundle,
): RequestBody | undefined {
  if (operation.requestBody === undefined) return undefined;
  const body = resolved(document, operation.requestBody, 'the request body');
  const content = Object.entries(membersOf(body.content));
  const found =
    content.find(([type]) => isJsonType(mediaType(type))) ??
    content.find(([type]) => mediaType(type) === formType) ??
    content.find(([type]) => isTextType(mediaType(type)));
  if (found === undefined || !isMediaType(found[0])) {
    const types = content.map(([type]) => quoted(type)).join(', ') || 'no type';
    throw refusal(`Its body is ${types}. Only JSON, forms (${formType}) and text are supported.`);
  }
  const [type, media] = found;
  const plain = mediaType(type);
  const kind = isJsonType(plain) ? 'json' : plain === formType ? 'form' : 'text';
  const { schema = {}, encoding } = resolved(document, media, 'the media type of the body');
  return {
    plan: { kind, type, fields: kind === 'form' ? fieldsOf(membersOf(encoding)) : {} },
    schema: kind === 'text' ? { type: 'string' } : described(body, bundle.schema(schema)),
    required: body.required === true,
  };
}

function described({ description }: JsonObject, schema: JsonValue): JsonValue {
  return typeof description === 'string' && description.trim() !== '' && isJsonObject(schema)
    ? { description: description.trim(), ...schema }
    : schema;
}

function fieldsOf(encoding: JsonObject): Record<string, Writing> {
  return Object.fromEntries(
    Object.entries(encoding).map(([name, given]) => {
      const { style = 'form', explode, allowReserved, contentType } = membersOf(given);
      if (style !== 'form' && style !== 'deepObject')
        throw refusal(`The style ${quoted(style)} of the field ${quoted(name)} is not supported.`);
      const json = typeof contentType === 'string' && isJsonType(mediaType(contentType));
      return [
        name,
        {
          name,
          style: style as Style,
          explode: typeof explode === 'boolean' ? explode : style === 'form',
          reserved: allowReserved === true,
          json,
        },
      ];
    }),
  );
}

/** What an operation answers. */
export interface ResponsePlan {
  /** The header `Accept`. */
  readonly accept: string;
  /** Whether it answers JSON, text, or what its media type says. */
  readonly kind: 'json' | 'text' | 'any';
  /** The schema of the output; undefined if anything is one. */
  readonly schema: JsonValue | undefined;
}

/**
 * Reads what an operation answers if it succeeds.
 * @throws MisuseError if it answers only what is neither JSON nor text
 */
export function readResponses(
  operation: JsonObject,
  document: JsonObject,
  bundle: SchemaBundle,
): ResponsePlan {
  const all = Object.entries(membersOf(operation.responses));
  const good = all.filter(([status]) => /^2(?:\d\d|XX)$/i.test(status));
  const used = good.length > 0 ? good : all.filter(([status]) => status === 'default');
  const types = new Set<string>();
  const refused: string[] = [];
  const schemas = new Map<string, JsonValue>();
  let isKnown = used.length > 0;
  for (const [status, given] of used) {
    const { content } = resolved(document, given, `the response ${quoted(status)}`);
    const media = Object.entries(membersOf(content));
    const json = media.filter(([type]) => isJsonType(mediaType(type)));
    const text = media.filter(([type]) => isTextType(mediaType(type)));
    const taken = json.length > 0 ? json : text;
    if (media.length > 0 && taken.length === 0) refused.push(...media.map(([type]) => type));
    // Many documents leave the content out where there is one. Only these statuses have none.
    if (media.length === 0 && /^20[45]$/.test(status)) schemas.set('null', { type: 'null' });
    else if (media.length === 0) isKnown = false;
    for (const [type, one] of taken) {
      types.add(mediaType(type));
      const { schema } = resolved(document, one, 'the media type of a response');
      if (json.length > 0 && schema === undefined) isKnown = false;
      const made = json.length > 0 ? bundle.schema(schema ?? {}) : { type: 'string' };
      schemas.set(JSON.stringify(made), made);
    }
  }
  if (types.size === 0 && refused.length > 0)
    throw refusal(
      `It answers ${refused.map(quoted).join(', ')}. Only JSON and text are supported.`,
    );
  const list = [...schemas.values()];
  const isJson = [...types].some(isJsonType);
  return {
    accept: types.size === 0 ? 'application/json, text/*;q=0.5' : [...types].join(', '),
    kind: types.size === 0 ? 'any' : isJson ? 'json' : 'text',
    schema:
      !isKnown || list.length === 0 ? undefined : list.length === 1 ? list[0] : { anyOf: list },
  };
}

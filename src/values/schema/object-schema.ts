/** The arguments of a tool are an object, and so is what its schema describes. */
import { MisuseError } from '../errors/index.ts';
import type { JsonObject } from '../json/index.ts';
import { plainTypeOf, type SchemaKind } from './to-json-schema.ts';

/**
 * Refuses a schema that is plainly of no object, before it is converted.
 * @throws MisuseError `invalid_schema`
 */
export function checkNotPlain(schema: unknown, kind: SchemaKind, where: string): void {
  const type = plainTypeOf(schema, kind);
  if (type !== undefined) asObjectSchema({ type }, where);
}

/**
 * States `type: object`, which the arguments of a tool always are and which models and protocols
 * expect to read.
 */
export function asObjectSchema(schema: JsonObject, where: string): JsonObject {
  const { type } = schema;
  if (type === 'object') return schema;
  if (type === undefined) return Object.freeze({ type: 'object', ...schema });
  throw new MisuseError(
    'invalid_schema',
    `${where}: expected a schema of an object (type "object"), got type ` +
      `${JSON.stringify(type)}. A tool's arguments are named: wrap the value in an object with ` +
      'one property.',
  );
}

/** A JSON Schema as the SDK's own schema object. */
import type { JsonSchema } from '../../core.ts';
import type { AiSdkSchema } from './tool.ts';

/** The mark by which every version of the SDK recognises its own schemas. */
const schemaMark = Symbol.for('vercel.ai.schema');

const wrapped = new WeakMap<JsonSchema, AiSdkSchema>();

/**
 * Wraps a schema, unchanged and without a validator: invalid arguments must reach the session,
 * whose error names each path. The same object for the same schema.
 */
export function wrapSchema(schema: JsonSchema): AiSdkSchema {
  const before = wrapped.get(schema);
  if (before !== undefined) return before;
  const made = Object.freeze({
    [schemaMark]: true,
    jsonSchema: schema,
    // The SDK checks that the member exists.
    validate: undefined,
    '~standard': Object.freeze({
      version: 1 as const,
      vendor: 'host-tools',
      validate: (value: unknown) => ({ value: value as never }),
    }),
  });
  wrapped.set(schema, made);
  return made;
}

/** A JSON Schema in the SDK's wrapping. */
import type { JsonSchema } from '../../index.ts';
import type { AiSdkSchema } from './tool.ts';

/** How every version of the SDK knows a schema of its own kind. */
const schemaMark = Symbol.for('vercel.ai.schema');

const wrapped = new WeakMap<JsonSchema, AiSdkSchema>();

/**
 * The schema, unchanged and without a validator: arguments that do not fit reach the session, whose
 * answer names each path. Once a schema.
 */
export function wrapSchema(schema: JsonSchema): AiSdkSchema {
  const before = wrapped.get(schema);
  if (before !== undefined) return before;
  const made = Object.freeze({
    [schemaMark]: true,
    jsonSchema: schema,
    // The SDK asks whether the member is there.
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

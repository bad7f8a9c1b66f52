/** Schemas of forms, with the compiler, which a server needs only once it asks something. */
import { compileSchema } from '../../../values/json-schema/compile.ts';
import { gateSchema } from '../../../values/json-schema/gate.ts';
import type { CompiledSchema } from '../../../values/schema/schema.ts';

/**
 * The schema of a form. A gateway passes on forms of others, so it is bounded as theirs are.
 * @throws MisuseError `invalid_schema` for one beyond the limits
 */
export function compileForm(requestedSchema: unknown): CompiledSchema {
  return compileSchema(gateSchema(requestedSchema).schema, { trusted: false });
}

/**
 * Asks a compiled schema about a value the way a validation does, and looks what each of its two
 * passes took.
 */

import type { JsonValue } from '../../../src/values/json/index.ts';
import type { JsonSchemaDocument, SchemaIssue } from '../../../src/values/json-schema/compile.ts';
import type { Context } from '../../../src/values/json-schema/compile-context.ts';
import { compileNodes } from '../../../src/values/json-schema/compile-node.ts';
import { walkSchema } from '../../../src/values/json-schema/json-schema-check.ts';

export interface Pass {
  readonly valid: boolean;
  readonly steps: number;
  readonly issues: readonly SchemaIssue[];
}

/**
 * The first pass only answers; the second one, which a validation makes for a refused value alone,
 * also says why.
 */
export function judge(
  schema: JsonSchemaDocument,
  value: JsonValue,
): { readonly answers: Pass; readonly explains: Pass } {
  const { check } = compileNodes(schema, walkSchema(schema, { trusted: true }), true);
  const pass = (issues: { path: string; message: string }[] | undefined): Pass => {
    const context: Context = { steps: 1_000_000, issues, polluted: false, scope: [] };
    const valid = check(value, context);
    return { valid, steps: 1_000_000 - context.steps, issues: issues ?? [] };
  };
  return { answers: pass(undefined), explains: pass([]) };
}

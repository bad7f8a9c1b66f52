/** The format as JSON Schema, for editors and other checkers. */
import * as z from 'zod';
import { fileFormat } from './format.ts';

/** The content of `host-tools.schema.json`. It is draft-07, which editors support best. */
export function fileJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(fileFormat, { target: 'draft-7', io: 'input', reused: 'inline' });
}

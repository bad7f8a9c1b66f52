/** The format as JSON Schema, for editors and other checkers. */
import { z } from 'zod';
import { fileFormat } from './format.ts';

/** What `host-tools.schema.json` holds. Draft-07, since that is what editors know best. */
export function fileJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(fileFormat, { target: 'draft-7', io: 'input', reused: 'inline' });
}

/** Which text of an output is trusted. */

import type { OutputOrigin } from '../../api/origins.ts';
import { isJsonObject, type JsonObject } from '../../values/json/index.ts';
import { createLabels, type Labels } from './labels.ts';

/** What is known about the outputs of one tool. Made once for a tool. */
export interface OutputLabels {
  /** The origin of text without a label. */
  readonly origin: OutputOrigin;
  /** Whether a label marks some field as untrusted. */
  readonly mixed: boolean;
  /** Whether a label marks some field as untrusted. */
  readonly hasUntrusted: boolean;
  /** Undefined if no field has a label. */
  readonly fields: Labels<OutputOrigin> | undefined;
}

/** What {@link outputLabels} is made from. */
export interface OutputLabelSource {
  /** The origin of the tool's outputs. */
  readonly origin: OutputOrigin;
  /** The schema of its outputs; `x-origin`, or `origin` from zod's `.meta()`, labels a field. */
  readonly schema?: JsonObject | boolean | undefined;
  /** Labels by path, which override the schema: `{ "*.body": "untrusted" }`. */
  readonly paths?: Readonly<Record<string, OutputOrigin>> | undefined;
  /**
   * Whether the schema may mark a field as trusted. False for a tool of another source, which must
   * not vouch for itself. @default true
   */
  readonly schemaMayTrust?: boolean | undefined;
}

/**
 * Reads the labels of a tool's outputs.
 * @throws MisuseError `invalid_option` for a malformed path.
 */
export function outputLabels({
  origin,
  schema,
  paths,
  schemaMayTrust = true,
}: OutputLabelSource): OutputLabels {
  const marks = isJsonObject(schema) ? marksIn(schema, schemaMayTrust) : new Set<OutputOrigin>();
  for (const label of Object.values(paths ?? {})) marks.add(label);
  const hasUntrusted = marks.has('untrusted');
  const mixed = origin === 'untrusted' || hasUntrusted;
  if (marks.size === 0) return { origin, mixed, hasUntrusted, fields: undefined };
  return {
    origin,
    mixed,
    hasUntrusted,
    fields: createLabels<OutputOrigin>({
      schema,
      paths,
      read: (part) => markOf(part, schemaMayTrust),
      strictest: (labels) => (labels.includes('untrusted') ? 'untrusted' : labels[0]),
      ifTooMany: 'untrusted',
    }),
  };
}

/**
 * The mark in one part of a schema. A word that `x-origin` does not know is read as `untrusted`;
 * `origin` may be a word of another vocabulary.
 */
function markOf(part: JsonObject, mayTrust: boolean): OutputOrigin | undefined {
  const own = (keyword: string): unknown =>
    Object.hasOwn(part, keyword) ? part[keyword] : undefined;
  const exact = own('x-origin');
  const mark = exact ?? own('origin');
  if (mark === 'trusted') return mayTrust ? mark : undefined;
  return mark === 'untrusted' || exact !== undefined ? 'untrusted' : undefined;
}

/** Every mark anywhere in a schema. */
function marksIn(schema: JsonObject, mayTrust: boolean): Set<OutputOrigin> {
  const marks = new Set<OutputOrigin>();
  const pending: unknown[] = [schema];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (typeof part !== 'object' || part === null) continue;
    if (isJsonObject(part)) {
      const mark = markOf(part, mayTrust);
      if (mark !== undefined) marks.add(mark);
    }
    for (const value of Object.values(part)) if (value !== undefined) pending.push(value);
  }
  return marks;
}

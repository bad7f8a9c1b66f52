/** What each argument of a tool is for. */

import type { Role } from '../../api/origins.ts';
import { isJsonObject, type JsonObject, type JsonPrimitive } from '../../values/json/index.ts';
import { createLabels, type LabelNode, type Labels } from './labels.ts';

/** The roles of the arguments of one tool. Made once for a tool. */
export interface InputRoles {
  readonly fields: Labels<Role>;
}

/** What {@link inputRoles} is made from. */
export interface InputRoleSource {
  /** The schema of the input; `x-role`, or `role` from zod's `.meta()`, labels a field. */
  readonly schema?: JsonObject | boolean | undefined;
  /** Roles by path, which override the schema: `{ subject: "content" }`. */
  readonly paths?: Readonly<Record<string, Role>> | undefined;
  /**
   * Whether a mark in the schema may set a milder role than `target`. False for a tool of another
   * source. @default true
   */
  readonly schemaMayLoosen?: boolean | undefined;
}

/**
 * Reads the roles of a tool's arguments.
 * @throws MisuseError `invalid_option` for a malformed path.
 */
export function inputRoles({ schema, paths, schemaMayLoosen = true }: InputRoleSource): InputRoles {
  return {
    fields: createLabels<Role>({
      schema,
      paths,
      read: (part) => markOf(part, schemaMayLoosen),
      strictest: (labels) =>
        labels.includes('target') ? 'target' : labels.includes('content') ? 'content' : labels[0],
      ifTooMany: 'target',
    }),
  };
}

/**
 * The mark in one part of a schema. A word that `x-role` does not know is read as `target`; `role`
 * may be a word of another vocabulary.
 */
function markOf(part: JsonObject, mayLoosen: boolean): Role | undefined {
  const exact = Object.hasOwn(part, 'x-role') ? part['x-role'] : undefined;
  const mark = exact ?? (Object.hasOwn(part, 'role') ? part.role : undefined);
  if (mark === 'content' || mark === 'free') return mayLoosen ? mark : undefined;
  return mark === 'target' || exact !== undefined ? 'target' : undefined;
}

/** Names of arguments that hold free text. */
const contentNames = new Set([
  'subject',
  'title',
  'body',
  'text',
  'content',
  'message',
  'description',
  'comment',
  'note',
  'summary',
  'query',
]);

/** Names of arguments that hold a date or time, if their value is one. */
const momentNames = new Set([
  'date',
  'day',
  'time',
  'datetime',
  'timestamp',
  'start',
  'end',
  'deadline',
  'due',
  'until',
  'since',
]);

/** The last word of a name: `text` for `messageText`, `time` for `start_time`. */
function lastWord(name: string): string {
  const words = name
    .slice(-100)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .split(/[^A-Za-z0-9]+/);
  return (words.at(-1) as string).toLowerCase();
}

/** Whether a string argument of this name is free text unless a label says otherwise. */
export function isContentName(name: string): boolean {
  return contentNames.has(lastWord(name));
}

/** Whether an argument holds a date or time, judged by its name or its schema. */
export function isMomentField(name: string, { parts }: LabelNode<Role>): boolean {
  return (
    momentNames.has(lastWord(name)) || parts.some(({ description }) => isMomentText(description))
  );
}

function isMomentText(description: unknown): boolean {
  return (
    typeof description === 'string' &&
    /\bYYYY-MM-DD\b|\bHH:MM\b|\bISO 8601\b/i.test(description.slice(0, 1_000))
  );
}

const momentFormats = new Set(['date', 'date-time', 'time', 'duration']);

/** Whether the schema gives the string a date or time format. */
export function hasMomentFormat({ parts }: LabelNode<Role>): boolean {
  return parts.some(({ format }) => typeof format === 'string' && momentFormats.has(format));
}

/**
 * Whether the schema itself fixes the value: a constant, a member of an enumeration, the default.
 */
export function isFixed(value: JsonPrimitive, { parts }: LabelNode<Role>): boolean {
  return parts.some((part) => {
    if (Object.hasOwn(part, 'const') && part.const === value) return true;
    if (Object.hasOwn(part, 'default') && part.default === value) return true;
    const members = Object.hasOwn(part, 'enum') ? part.enum : undefined;
    return Array.isArray(members) && members.includes(value);
  });
}

/** Whether a schema has parts for members of this object. */
export function isDeclared(key: string, { parts }: LabelNode<Role>): boolean {
  return parts.some(({ properties }) => isJsonObject(properties) && Object.hasOwn(properties, key));
}

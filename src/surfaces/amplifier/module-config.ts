/** What a mount plan may say about a module of tools. */

import { describe } from '../../errors.ts';
import { type JsonObject, MisuseError } from '../../index.ts';
import { readMembers } from '../../options/index.ts';

/**
 * The `config` of a mount plan's entry. What the host fixed in code stands; this fills what it left
 * open.
 */
export interface ModuleConfig {
  /** The id of a profile of the registry. */
  readonly profile?: string;
  /**
   * `sessionId` is read too. @default the coordinator's own session id, where it tells one, else
   * "host-tools"
   */
  readonly session_id?: string;
  /** The session's working directory, unless the host set one. @default "" */
  readonly cwd?: string;
  /** Strings; a key that the host set stands. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A key that the host set stands. */
  readonly facts?: JsonObject;
  /** A key that the host set stands. */
  readonly metadata?: JsonObject;
  /**
   * What happens where the coordinator has a tool of the same name; `onConflict` is read too.
   * @default "skip"
   */
  readonly on_conflict?: 'skip' | 'replace';
}

const aliases: ReadonlyMap<string, string> = new Map([
  ['sessionId', 'session_id'],
  ['onConflict', 'on_conflict'],
]);
const texts = ['profile', 'session_id', 'cwd', 'on_conflict'] as const;
const objects = ['environment', 'facts', 'metadata'] as const;
const known: readonly string[] = [...texts, ...objects];

/**
 * Reads a configuration; absent is empty. Values are checked further where a session is made of
 * them. @throws MisuseError naming the key.
 */
export function readModuleConfig(config: unknown): ModuleConfig {
  if (config === undefined || config === null) return {};
  const own = readMembers(
    'Module config',
    config as Readonly<Record<string, unknown>>,
    [...known, ...aliases.keys()],
    { noun: 'key' },
  );
  const read = new Map<string, unknown>();
  for (const [given, value] of Object.entries(own)) {
    const key = aliases.get(given) ?? given;
    if (read.has(key))
      throw new MisuseError(
        'invalid_option',
        `Module config: expected \`${key}\` once, got it under two spellings.`,
      );
    if (value !== undefined && value !== null) read.set(key, value);
  }
  for (const key of texts)
    if (read.has(key) && typeof read.get(key) !== 'string')
      throw fault(`\`${key}\` to be a string`, read.get(key));
  for (const key of objects)
    if (read.has(key) && !isObject(read.get(key)))
      throw fault(`\`${key}\` to be an object`, read.get(key));
  // Without a prototype: what the plan does not say stays unsaid.
  return Object.assign(Object.create(null), Object.fromEntries(read)) as ModuleConfig;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fault(expected: string, got: unknown): MisuseError {
  return new MisuseError(
    'invalid_option',
    `Module config: expected ${expected}, got ${describe(got)}.`,
  );
}

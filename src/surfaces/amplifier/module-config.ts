/** What a mount plan may say about a module of tools. */

import { type JsonObject, MisuseError } from '../../index.ts';
import { checkOption, object, readMembers, type TableOf, text } from '../../options.ts';

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
const where = 'Module config';
const table = {
  profile: text(),
  session_id: text(),
  cwd: text(),
  on_conflict: text(),
  environment: object(),
  facts: object(),
  metadata: object(),
} satisfies TableOf<ModuleConfig>;

/**
 * Reads a configuration; absent is empty. Values are checked further where a session is made of
 * them. @throws MisuseError naming the key.
 */
export function readModuleConfig(config: unknown): ModuleConfig {
  if (config === undefined || config === null) return {};
  const own = readMembers(
    where,
    config as Readonly<Record<string, unknown>>,
    [...Object.keys(table), ...aliases.keys()],
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
  for (const [key, value] of read)
    checkOption<unknown>(where, key, value, table[key as keyof typeof table]);
  // Without a prototype: what the plan does not say stays unsaid.
  return Object.assign(Object.create(null), Object.fromEntries(read)) as ModuleConfig;
}

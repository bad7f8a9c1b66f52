/** The configuration of a module in a mount plan. */

import { type JsonObject, MisuseError } from '../../core.ts';
import {
  checkOption,
  object,
  readMembers,
  type TableOf,
  text,
} from '../../values/options/index.ts';

/** The `config` of a mount plan's entry. It sets what the module's options leave open. */
export interface ModuleConfig {
  /** The id of a profile of the registry. */
  readonly profile?: string;
  /**
   * The session's id. `sessionId` works too.
   * @default the coordinator's own session id, or "host-tools" if it has none
   */
  readonly session_id?: string;
  /** The session's working directory. @default "" */
  readonly cwd?: string;
  /** Environment variables. The module's options take precedence per key. @default {} */
  readonly environment?: Readonly<Record<string, string>>;
  /** The session's facts. The module's options take precedence per key. @default {} */
  readonly facts?: JsonObject;
  /** The session's metadata. The module's options take precedence per key. @default {} */
  readonly metadata?: JsonObject;
  /**
   * What happens if the coordinator has another tool of the same name. `onConflict` works too.
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

/** The keys of a mount plan's configuration that set options of the session, in all spellings. */
export const knownKeys: ReadonlySet<string> = new Set([...Object.keys(table), ...aliases.keys()]);

/**
 * Reads a configuration. `createSession` checks the values further.
 * @throws MisuseError that names the key.
 */
export function readModuleConfig(config: unknown): ModuleConfig {
  if (config === undefined || config === null) return {};
  const own = readMembers(where, config as Readonly<Record<string, unknown>>, [...knownKeys], {
    noun: 'key',
  });
  const read = new Map<string, unknown>();
  for (const [given, value] of Object.entries(own)) {
    const key = aliases.get(given) ?? given;
    if (read.has(key))
      throw new MisuseError(
        'invalid_option',
        `Module config: expected \`${key}\` once, got it in two spellings.`,
      );
    if (value !== undefined && value !== null) read.set(key, value);
  }
  for (const [key, value] of read)
    checkOption<unknown>(where, key, value, table[key as keyof typeof table]);
  // Without a prototype, so that no inherited member counts.
  return Object.assign(Object.create(null), Object.fromEntries(read)) as ModuleConfig;
}

/** The option `discovery` of sessions. */
import { MisuseError } from '../../values/errors/index.ts';
import {
  anything,
  fn,
  readOptions,
  type TableOf,
  wholeNumber,
  withDefault,
} from '../../values/options/index.ts';
import type { DiscoverySettings } from './discovery.ts';
import type { Embed } from './meanings.ts';

/** What a session lists from the start, and how much it may find. */
export interface DiscoveryOptions {
  /** Names or globs of tools that are always listed. @default none */
  readonly keep?: string | readonly string[] | undefined;
  /**
   * The most tokens of the tools that were found, counted as one token for every four characters of
   * their names, descriptions and schemas. When more are found, those that have not been called for
   * the longest time are removed. From 1.
   * @default 8_000
   */
  readonly maxTokens?: number | undefined;
  /** The most tools that one call to `find_tools` returns. From 1 to 100. @default 8 */
  readonly limit?: number | undefined;
  /**
   * The host's own embedding model. Its ranking is merged with the ranking by words. Each tool is
   * embedded once. If it fails, only words count, and the error is logged.
   * @default words alone
   */
  readonly embed?: Embed | undefined;
}

const table = {
  keep: anything<string | readonly string[]>(),
  maxTokens: withDefault(wholeNumber(1), 8_000),
  limit: withDefault(wholeNumber(1, 100), 8),
  embed: fn<Embed>(),
} satisfies TableOf<DiscoveryOptions>;

/** @throws MisuseError `invalid_option`, which names the option. */
export function readDiscovery(options: DiscoveryOptions, where: string): DiscoverySettings {
  const { keep, maxTokens, limit, embed } = readOptions(where, options, table, {
    path: 'discovery',
  });
  return { keep: readGlobs(keep, where), maxTokens, limit, embed };
}

function readGlobs(keep: unknown, where: string): readonly string[] {
  if (keep === undefined) return [];
  const globs: unknown[] = Array.isArray(keep) ? [...keep] : [keep];
  for (const glob of globs)
    if (typeof glob !== 'string' || glob === '')
      throw new MisuseError(
        'invalid_option',
        `${where}: expected \`discovery.keep\` to be a name, a glob, or a list of them. Leave it ` +
          'out to list only `find_tools` at first.',
      );
  return globs as string[];
}

/** The option `discovery` of sessions. */

import type { DiscoveryOptions, Embed } from '../../api/discovery.ts';
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

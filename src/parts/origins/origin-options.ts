/** The option `origins` of registries and sessions. */

import type { OriginOptions } from '../../api/origins.ts';
import {
  type OptionValues,
  readOptions,
  type TableOf,
  wholeNumber,
} from '../../values/options/index.ts';

const table = { maxChars: wholeNumber(1) } satisfies TableOf<OriginOptions>;

export type ReadOriginOptions = OptionValues<typeof table>;

/** @throws MisuseError `invalid_option`, which names the option. */
export function readOriginOptions(
  options: OriginOptions | undefined,
  where: string,
): ReadOriginOptions {
  return readOptions(where, options, table, { path: 'origins' });
}

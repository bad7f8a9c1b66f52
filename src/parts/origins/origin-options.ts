/** The option `origins` of registries and sessions. */
import {
  type OptionValues,
  readOptions,
  type TableOf,
  wholeNumber,
} from '../../values/options/index.ts';

/** How much text is remembered, for rules about origins. */
export interface OriginOptions {
  /**
   * The most characters of text that one session remembers. Further text is not remembered, so
   * values from it are `unknown`. From 1.
   * @default 8_388_608
   */
  readonly maxChars?: number | undefined;
}

const table = { maxChars: wholeNumber(1) } satisfies TableOf<OriginOptions>;

export type ReadOriginOptions = OptionValues<typeof table>;

/** @throws MisuseError `invalid_option`, which names the option. */
export function readOriginOptions(
  options: OriginOptions | undefined,
  where: string,
): ReadOriginOptions {
  return readOptions(where, options, table, { path: 'origins' });
}

/**
 * The build of `npm run build`. The declarations are bundled from what `tsc` has written, since the
 * bundler takes six times as long to make them from the sources. `npx tsup` alone does that, and
 * its result is the same.
 */
import type { Options } from 'tsup';
import fromSources, { subpaths } from './tsup.config.ts';

const declarations = Object.fromEntries(
  Object.entries(subpaths).map(([name, source]) => [
    name,
    source.replace(/^src\/(.*)\.ts$/, '.declarations/$1.d.ts'),
  ]),
);

const config: Options = {
  ...fromSources,
  dts: { ...(fromSources.dts as object), entry: declarations },
};

export default config;

/** The folder of this library: `src`, or the folder of the installed package. */
import { fileURLToPath } from 'node:url';

// Read first: a bundler takes `new URL(…, import.meta.url)` for a file to copy.
const here = import.meta.url;
// A bundle lies one folder below it, this source two.
const up = here.endsWith('/values/packages/own-folder.ts') ? '../../' : '../';

export const ownFolder = fileURLToPath(new URL(up, here));

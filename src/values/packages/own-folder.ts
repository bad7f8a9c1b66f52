/** The folder of this library: `src`, or the folder of the installed package. */
import { fileURLToPath } from 'node:url';

// A bundle lies one folder below it, this source two.
const up = import.meta.url.endsWith('/values/packages/own-folder.ts') ? '../..' : '..';

export const ownFolder = fileURLToPath(new URL(`${up}/`, import.meta.url));

/**
 * The folder of this library: `src`, or the folder of the installed package. It is found from a
 * file that is one folder below it in both.
 */
import { fileURLToPath } from 'node:url';

export const ownFolder = fileURLToPath(new URL('..', import.meta.url));

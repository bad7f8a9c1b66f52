/**
 * The code of a hook's thread in the published package: a bundle of everything that judges an
 * event.
 */
import { config } from 'zod';

export { hookWorker } from './hook-worker.ts';

// Each schema is used once, so generating code for it costs more than it saves.
config({ jitless: true });

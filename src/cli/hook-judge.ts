/**
 * What the thread of a hook runs in the published package: a bundle of all that judges an event.
 */
import { config } from 'zod';

export { hookWorker } from './hook-worker.ts';

// Each schema is used once, so code that is made for it costs more than it saves.
config({ jitless: true });

/** What a hook runs in the published package: a bundle of all that judges an event. */
import { config } from 'zod';

export { judgeEvent } from './judge-event.ts';

// Each schema is used once, so generating code for it costs more than it saves.
config({ jitless: true });

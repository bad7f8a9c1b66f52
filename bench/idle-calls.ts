/** One of the processes that `idle.ts` compares. */
import { serve } from './idle.ts';

await serve(process.argv[2] as Parameters<typeof serve>[0]);

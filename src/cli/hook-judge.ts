/** What a hook runs in the published package: a bundle of all that judges an event. */
import { config } from 'zod';
import type { RulesOnly } from '../surfaces/config/for-hooks.ts';

export { judgeEvent } from './judge-event.ts';

/** For `hook install`, which keeps the result beside the rules. */
export async function rulesOnly(path: string): Promise<RulesOnly | undefined> {
  const { rulesOnly } = await import('../surfaces/config/for-hooks.ts');
  return rulesOnly(path);
}

// Each schema is used once, so generating code for it costs more than it saves.
config({ jitless: true });

/** Starts the handler of a call that has passed all gates. */
import { cloneJson } from '../../values/json/index.ts';
import type { FoundCall } from './call.ts';
import { countLateSettle } from './end-call.ts';
import { ran, threw } from './settle.ts';
import { type RunOptions, run } from './stages/run.ts';
import { giveUp } from './standing-grants.ts';

export function start(call: FoundCall): void {
  if (call.extra?.approval?.grant !== undefined) giveUp(call);
  // After hooks, observers and `tool:error` are shown the canonical input, and the handler may
  // change a parse that shares parts with it.
  const { hooks, registry } = call.session;
  const traces = call.extra?.traces;
  if (
    hooks.length > 0 ||
    registry.observers !== undefined ||
    traces !== undefined ||
    call.session.hasListener('tool:error')
  )
    call.canonical = cloneJson(call.canonical);
  if (traces === undefined) run(call, plainly);
  else traces.run('run', () => run(call, traced));
}

const plainly: RunOptions = { returned: ran, threw, late: countLateSettle };

const traced: RunOptions = {
  returned(call, value, metadata) {
    call.extra?.traces?.left('run', undefined);
    ran(call, value, metadata);
  },
  threw(call, error) {
    call.extra?.traces?.left('run', error);
    threw(call, error);
  },
  late: countLateSettle,
};

/** Starts the handler of a call that has passed all gates. */
import { cloneJson } from '../../values/json/index.ts';
import type { FoundCall } from './call.ts';
import { countLateSettle } from './end-call.ts';
import { ran, threw } from './settle.ts';
import { type RunOptions, run } from './stages/run.ts';
import { letGo } from './standing-grants.ts';
import { inRun, leave } from './traced.ts';

export function start(call: FoundCall): void {
  if (call.extra?.grant !== undefined) letGo(call);
  // After hooks, observers and `tool:error` are shown the canonical input, and the handler may
  // change a parse that shares parts with it.
  const { hooks, registry } = call.session;
  const traces = call.extra?.traces;
  if (
    hooks.length > 0 ||
    registry.observers !== undefined ||
    traces !== undefined ||
    call.session.hears('tool:error')
  )
    call.canonical = cloneJson(call.canonical);
  if (traces === undefined) run(call, plainly);
  else inRun(call, runTraced);
}

const plainly: RunOptions = { returned: ran, threw, late: countLateSettle };

const traced: RunOptions = {
  returned(call, value, metadata) {
    leave(call, 'run', undefined);
    ran(call, value, metadata);
  },
  threw(call, error) {
    leave(call, 'run', error);
    threw(call, error);
  },
  late: countLateSettle,
};

function runTraced(call: FoundCall): void {
  run(call, traced);
}

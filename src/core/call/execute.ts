/** Runs a call on its executor, in the place that it has taken there. */

import type { Executor } from '../../api/tool-config.ts';
import { cloneJson } from '../../values/json/index.ts';
import type { FoundCall } from './call.ts';
import { HandlerContext } from './handler-context.ts';

export function execute(call: FoundCall, executor: Executor): Promise<unknown> {
  const { extra } = call;
  const input = cloneJson(call.canonical);
  const context = new HandlerContext(call);
  const place = extra?.place;
  if (extra === undefined || place === undefined) return executor.execute(input, context);
  extra.place = undefined;
  return place.run(input, context);
}

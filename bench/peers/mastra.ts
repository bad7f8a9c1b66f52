/**
 * Mastra: a tool, executed. It validates and calls; it has neither a timeout nor a policy of its
 * own here.
 */
import { description, handler, type Input, input, schema } from '../fixtures.ts';
import type { FamilyResult } from '../targets.ts';
import { compareCall, holdsAnswer } from './compare-call.ts';
import { load, missing } from './load.ts';
import { versionOf } from './version.ts';

interface ToolsModule {
  createTool(options: object): { execute(given: unknown, context: object): Promise<unknown> };
}

export async function measure(): Promise<FamilyResult> {
  const module = await load<ToolsModule>('@mastra/core/tools');
  if (module === undefined) return missing('@mastra/core');
  const forecast = module.createTool({
    id: 'forecast',
    description,
    inputSchema: schema,
    execute: (given: Input) => handler(given),
  });
  return compareCall(
    'peer_mastra',
    () => forecast.execute(input, {}),
    holdsAnswer,
    await versionOf('@mastra/core'),
  );
}

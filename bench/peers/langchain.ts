/** LangChain: a structured tool, invoked. */
import { description, handler, type Input, input, schema } from '../fixtures.ts';
import type { FamilyResult } from '../targets.ts';
import { compareCall, holdsAnswer } from './compare-call.ts';
import { load, missing } from './load.ts';
import { versionOf } from './version.ts';

interface ToolsModule {
  tool(
    handler: (given: Input) => unknown,
    options: object,
  ): { invoke(given: unknown): Promise<unknown> };
}

export async function measure(): Promise<FamilyResult> {
  const module = await load<ToolsModule>('@langchain/core/tools');
  if (module === undefined) return missing('@langchain/core');
  const forecast = module.tool((given) => handler(given), {
    name: 'forecast',
    description,
    schema,
  });
  return compareCall(
    'peer_langchain',
    () => forecast.invoke(input),
    holdsAnswer,
    await versionOf('@langchain/core'),
  );
}

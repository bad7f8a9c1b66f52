/** OpenAI Agents: a function tool with a timeout, which is what a governed call has too. */
import { description, handler, type Input, input, schema } from '../fixtures.ts';
import type { FamilyResult } from '../targets.ts';
import { compareCall, holdsAnswer } from './compare-call.ts';
import { load, missing } from './load.ts';
import { versionOf } from './version.ts';

interface AgentsCore {
  tool(options: object): { invoke(context: unknown, input: string): Promise<unknown> };
  RunContext: new () => unknown;
}

export async function measure(): Promise<FamilyResult> {
  const name = '@openai/agents-core';
  const core = await load<AgentsCore>(name);
  if (core === undefined) return missing(name);
  const forecast = core.tool({
    name: 'forecast',
    description,
    parameters: schema,
    timeoutMs: 120_000,
    execute: (given: Input) => handler(given),
  });
  const context = new core.RunContext();
  const text = JSON.stringify(input);
  return compareCall(
    'peer_openai_agents',
    () => forecast.invoke(context, text),
    holdsAnswer,
    await versionOf(name),
  );
}

/** A registry with a tool that pays money back, and short ways to try rules on its calls. */
import {
  type AnyTool,
  defineTool,
  HostToolRegistry,
  type JsonObject,
  type RegistryOptions,
} from '../../../src/index.ts';

export const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  parameters: {
    type: 'object',
    properties: { amount: { type: 'number' }, to: { type: 'string' } },
    additionalProperties: false,
  },
  handler: () => {
    throw new Error('A backtest runs no handler.');
  },
});

export function registryOf(
  options: RegistryOptions = {},
  tools: readonly AnyTool[] = [refund],
): HostToolRegistry {
  const registry = new HostToolRegistry(options);
  registry.registerAll(tools as readonly AnyTool<unknown>[]);
  return registry;
}

/** A record for each input. */
export function refunds(...inputs: readonly JsonObject[]): { toolName: string; input: unknown }[] {
  return inputs.map((input) => ({ toolName: 'refund', input }));
}

/** A text in pieces, as a stream gives it. */
export async function* pieces(...parts: readonly (string | Uint8Array)[]) {
  yield* parts;
}

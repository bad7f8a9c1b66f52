/** Secrets of a registry: no text and no event of any call shows them. */
import { expect, test } from 'vitest';
import { registryStateOf } from '../../../src/core/registry/state-of.ts';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { maskingOf } from '../../../src/parts/secrets/masking-of.ts';
import type { SecretMasking } from '../../../src/parts/secrets/secret-masking.ts';
import { Secrets } from '../../../src/values/redaction/secrets.ts';

const secret = 'sk-0123456789';

function world() {
  const registry = new HostToolRegistry();
  const secrets = new Secrets();
  secrets.addText(secret);
  (maskingOf(registryStateOf(registry)) as SecretMasking).known = secrets;
  const seen: unknown[] = [];
  for (const type of ['tool:pre', 'tool:post', 'tool:error', 'tool:progress'] as const)
    registry.events.on(type, (event) => seen.push(event));
  const parameters = { type: 'object' } as const;
  registry.registerAll([
    defineTool({ name: 'echo', description: 'E.', parameters, handler: (input) => input }),
    defineTool({
      name: 'fails',
      description: 'F.',
      parameters,
      handler: (_, context) => {
        context.progress(1, 2, `using ${secret}`);
        throw new Error(`Bearer ${secret} was refused`);
      },
    }),
    defineTool({
      name: 'outer',
      description: 'O.',
      parameters,
      uses: ['fails'],
      handler: async (_, { tools }) => (await tools.call('fails', {})).error?.message ?? '',
    }),
  ]);
  const session = registry.createSession({ sessionId: 's' });
  return { session, seen };
}

test('an error is without them, inside a larger text and in calls of calls', async () => {
  const { session, seen } = world();
  const failed = await session.call('fails', {});
  expect(failed.error?.message).toContain('Bearer [redacted] was refused');
  expect((await session.call('outer', {})).output).toContain('[redacted]');
  expect(JSON.stringify(seen)).not.toContain(secret);
});

test('a successful output is left alone, but events are not', async () => {
  const { session, seen } = world();
  const { output } = await session.call('echo', { text: `x ${secret}` });
  expect(output).toEqual({ text: `x ${secret}` });
  expect(JSON.stringify(seen)).not.toContain(secret);
  expect(JSON.stringify(seen)).toContain('x [redacted]');
});

test('so is a call of a tool that does not exist', async () => {
  const { session, seen } = world();
  await session.call('nothing', { text: secret });
  expect(JSON.stringify(seen)).not.toContain(secret);
});

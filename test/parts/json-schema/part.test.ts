/** Plain JSON Schemas and regular expressions as a part. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { PartSet } from '../../../src/core/part.ts';
import { Registry } from '../../../src/core/registry/registry.ts';
import { defineTool } from '../../../src/core/tool/define-tool.ts';
import { jsonSchemas } from '../../../src/parts/json-schema/part.ts';

const only = new PartSet([jsonSchemas()]);

describe('a registry with this part alone', () => {
  test('runs regular expressions in rules', async () => {
    const registry = new Registry(
      { rules: [{ effect: 'deny', when: { to: { matches: '^[a-z]+@example\\.com$' } } }] },
      only,
    );
    registry.register(
      defineTool({
        name: 'send',
        description: 'Sends.',
        parameters: z.object({ to: z.string() }),
        handler: () => 'sent',
      }),
    );
    const session = registry.createSession({ sessionId: 's' });
    expect(await session.call('send', { to: 'ann@example.com' })).toMatchObject({ success: false });
    expect(await session.call('send', { to: 'ann@example.org' })).toMatchObject({ success: true });
  });
});

test('without a table of parts, the refusal names no part', () => {
  const rules = [{ effect: 'deny', when: { a: { matches: 'x' } } }] as const;
  expect(() => new Registry({ rules }, new PartSet([]))).toThrow(
    expect.objectContaining({
      code: 'missing_part',
      part: undefined,
      message: 'registry rule 0: `when["a"].matches` needs a part that the registry does not have.',
    }),
  );
});

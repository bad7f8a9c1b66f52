/** Plain JSON Schemas and regular expressions as a part. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AnyTool } from '../../../src/api/tool.ts';
import { partOf } from '../../../src/assembly/part-table.ts';
import { RegistryParts } from '../../../src/core/registry/define-part.ts';
import { Registry } from '../../../src/core/registry/registry.ts';
import { defineTool } from '../../../src/core/tool/define-tool.ts';
import {
  internalsOf,
  type OutsidePlace,
  renameDefinition,
} from '../../../src/core/tool/definition.ts';
import { createDefinition } from '../../../src/extend.ts';
import { jsonSchemas } from '../../../src/parts/json-schema/part.ts';

const only = new RegistryParts([jsonSchemas()]);

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

describe('a tool with a plain schema', () => {
  const tool = defineTool({
    name: 'greet',
    description: 'Greets.',
    parameters: {
      type: 'object',
      properties: { name: { type: 'string', pattern: '^[A-Z]' }, times: { default: 2 } },
      required: ['name'],
    },
    handler: (input) => JSON.stringify(input),
  });
  const none = new RegistryParts([], partOf);

  test('can be defined and read without a registry', () => {
    expect(tool.parameters).toMatchObject({ required: ['name'] });
    expect(tool.fingerprint).toMatch(/^sha256:/);
  });

  test('is refused by a registry without the part, even if another has it', () => {
    const message =
      'Tool `greet`, `parameters`: a plain JSON Schema needs the part `jsonSchemas`. Write ' +
      "`import { jsonSchemas } from 'host-tools/json-schema'`, and give the registry " +
      '`parts: [jsonSchemas()]`.';
    expect(() => new Registry({}, none).register(tool)).toThrow(message);
    new Registry({}, only).register(tool);
    expect(() => new Registry({}, none).register(tool)).toThrow(message);
  });

  test('runs in a registry with the part, and gets its defaults', async () => {
    const registry = new Registry({}, only);
    registry.register(tool);
    const session = registry.createSession({ sessionId: 's' });
    expect(await session.call('greet', { name: 'Ann' })).toMatchObject({
      success: true,
      output: '{"name":"Ann","times":2}',
    });
    expect(await session.call('greet', { name: 'ann' })).toMatchObject({
      error: { code: 'invalid_input' },
    });
  });

  test('accepts nothing before a registry has it', () => {
    const { input } = internalsOf(fresh());
    expect(input.validate({ name: 'Ann' })).toMatchObject({ issues: [{ path: '' }] });
    expect(() => input.check()).toThrow('no registry that runs plain JSON Schemas has the tool');
  });

  test('runs again after an update and under the prefix of a scope', async () => {
    const registry = new Registry({}, only);
    const registration = registry.scope('plugin', { prefix: 'p.' }).register(fresh());
    registration.update({ description: 'Greets loudly.' });
    const session = registry.createSession({ sessionId: 's' });
    expect(await session.call('p.greet', { name: 'Ann' })).toMatchObject({ success: true });
  });
});

/** A definition that no registry has had. */
function fresh(): AnyTool<unknown> {
  return defineTool({
    name: 'greet',
    description: 'Greets.',
    parameters: { type: 'object', properties: { name: { type: 'string' } } },
    handler: () => 'hello',
  });
}

test('a definition from outside that replaces another one runs', async () => {
  const places: OutsidePlace[] = [];
  const imported = (type: string) =>
    createDefinition(
      {
        name: 'far',
        description: 'Far away.',
        parameters: { type: 'object', properties: { a: { type } } },
        handler: () => 'done',
      },
      {
        from: {
          source: 'far',
          withdrawn: () => undefined,
          onRegistered: (place) => places.push(place),
        },
      },
    ) as AnyTool<unknown>;
  const registry = new Registry({}, only);
  const session = registry.createSession({ sessionId: 's' });
  registry.register(imported('string'));
  places[0]?.replace(imported('number'));
  expect(await session.call('far', { a: 1 })).toMatchObject({ success: true });
  session.register(renameDefinition(imported('string'), 'near') as AnyTool<unknown>);
  places.at(-1)?.replace(imported('number'));
  expect(await session.call('near', { a: 1 })).toMatchObject({ success: true });
});

test('without a table of parts, the refusal names no part', () => {
  const rules = [{ effect: 'deny', when: { a: { matches: 'x' } } }] as const;
  expect(() => new Registry({ rules }, new RegistryParts([]))).toThrow(
    expect.objectContaining({
      code: 'missing_part',
      part: undefined,
      message: 'registry rule 0: `when["a"].matches` needs a part that the registry does not have.',
    }),
  );
});

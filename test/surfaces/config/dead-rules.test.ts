/** Files whose rules can never match: reviewed when all of the file is there. */
import { describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { loadHostTools } from '../../../src/surfaces/config/index.ts';
import { folder } from './folder.ts';

const handlers = 'export const pay = () => "paid";';
const pay = (...names: string[]): object => ({
  name: 'pay',
  description: 'Pays.',
  module: './handlers.mjs',
  parameters: {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, {}])),
    additionalProperties: false,
  },
});
const rule = (path: string, more: object = {}): object => ({
  effect: 'deny',
  tools: 'pay',
  when: { [path]: 1 },
  ...more,
});

function set(options: object = {}) {
  const lines: string[] = [];
  const warn = (_data: object, message?: string): void => void lines.push(String(message));
  const registry = new HostToolRegistry({ logger: { warn, error: warn }, ...options });
  return { registry, logged: (): string[] => lines.splice(0) };
}

describe('the rules of a file', () => {
  test('are reviewed with its tools, and again when they change', async () => {
    const { at, write } = folder({
      'a.json': { tools: [pay('to')], rules: [rule('payee'), rule('to', { tools: 'p*' })] },
      'handlers.mjs': handlers,
    });
    const { registry, logged } = set();
    await loadHostTools(at('a.json'), registry);
    expect(logged()).toEqual([
      'The rule `registry#0` (registry) does not do what it says: `when["payee"]: 1` never holds: ' +
        '`pay` has no `payee`.',
    ]);
    // The tool and its rule change together: neither the old rule nor the new one is reported.
    write({ 'a.json': { tools: [pay('payee')], rules: [rule('payee')] } });
    await loadHostTools(at('a.json'), registry);
    expect(logged()).toEqual([]);
  });

  test('for all tools wait for the tools of the file', async () => {
    const { at } = folder({
      'a.json': { tools: [pay('payee')], rules: [{ effect: 'deny', when: { payee: 1 } }] },
      'handlers.mjs': handlers,
    });
    const { registry, logged } = set();
    registry.register(
      defineTool({
        name: 'other',
        description: 'Of the host.',
        parameters: { type: 'object', properties: {}, additionalProperties: false },
        handler: () => 1,
      }),
    );
    await loadHostTools(at('a.json'), registry);
    expect(logged()).toEqual([]);
  });

  test('with `strictRules`, refuse the file, and what it had loaded before stays', async () => {
    const { at, write } = folder({
      'a.json': { tools: [pay('to')], rules: [rule('to', { id: 'first' })] },
      'handlers.mjs': handlers,
    });
    const { registry } = set({ strictRules: true });
    await loadHostTools(at('a.json'), registry);
    write({ 'a.json': { tools: [pay('to', 'more')], rules: [rule('payee')] } });
    await expect(loadHostTools(at('a.json'), registry)).rejects.toMatchObject({
      code: 'invalid_rule',
    });
    expect(registry.unusedRules()).toEqual([{ id: 'first', layer: 'registry' }]);
    const session = registry.createSession({ sessionId: 's' });
    expect((await session.call('pay', { to: 1 })).error?.ruleId).toBe('first');
    expect((await session.call('pay', { more: 1 })).error?.code).toBe('invalid_input');
    write({ 'a.json': { tools: [pay('to', 'more')], rules: [rule('more')] } });
    await loadHostTools(at('a.json'), registry);
    expect((await session.call('pay', { to: 1 })).output).toBe('paid');
  });
});

/** A definition that an application has registered becomes a tool of a session. */
import { describe, expect, test } from 'vitest';
import { type AnyTool, type Executor, HostToolRegistry } from '../../../../src/index.ts';
import type { RelayedDefinition } from '../../../../src/surfaces/relay/ports/documents.ts';
import { defineRelayedTool } from '../../../../src/surfaces/relay/tools/relayed-tool.ts';

const definition: RelayedDefinition = {
  name: 'draw',
  description: 'Draws a graph.',
  parameters: { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] },
  outputSchema: { type: 'number' },
  title: 'Draw',
  annotations: { destructive: true, openWorld: true, idempotent: true, readOnly: true },
};
const executor: Executor = { kind: 'remote', execute: async () => 7 };
const make = (more: Partial<RelayedDefinition> = {}) =>
  defineRelayedTool(
    { ...definition, ...more },
    { source: 'relay:ABCD2345', pluginType: 'codap', timeoutMs: 1_000, executor },
  ) as AnyTool<unknown>;

describe('a relayed tool', () => {
  test('shows its definition, and that it comes from outside', () => {
    expect(make()).toMatchObject({
      name: 'draw',
      description: 'Draws a graph.',
      parameters: definition.parameters,
      outputSchema: { type: 'number' },
      title: 'Draw',
      category: 'codap',
      tags: ['untrusted'],
    });
  });

  test('has only annotations that make a check stricter', () => {
    expect(make().annotations).toEqual({ destructive: true, openWorld: true });
    expect(make({ annotations: { idempotent: true, readOnly: true } }).annotations).toEqual({});
  });

  test('keeps its fingerprint when only its hint about delivery changes', () => {
    expect(
      make({ annotations: { ...definition.annotations, idempotent: false } }).fingerprint,
    ).toBe(make().fingerprint);
    expect(make({ description: 'Draws another.' }).fingerprint).not.toBe(make().fingerprint);
  });

  test('has no category without a plugin type', () => {
    expect(
      defineRelayedTool(definition, { source: 'relay:ABCD2345', timeoutMs: 1_000, executor }),
    ).not.toHaveProperty('category');
  });

  test('passes the gates of its session with its source', async () => {
    await using registry = new HostToolRegistry({
      rules: [{ effect: 'deny', source: 'relay:*', when: { x: 'no' } }],
    });
    const session = registry.createSession({ sessionId: 's' });
    session.register(make());
    expect(await session.call('draw', { x: 'yes' })).toMatchObject({ success: true, output: 7 });
    expect(await session.call('draw', { x: 'no' })).toMatchObject({
      success: false,
      error: { code: 'policy_denied' },
    });
    expect(await session.call('draw', { x: 1 })).toMatchObject({
      success: false,
      error: { code: 'invalid_input' },
    });
  });

  test('is gone when it is unregistered, and not before', async () => {
    await using registry = new HostToolRegistry();
    const session = registry.createSession({ sessionId: 's' });
    const registration = session.register(make());
    expect(session.effectiveTools().names).toEqual(['draw']);
    registration.unregister();
    expect(await session.call('draw', { x: 'a' })).toMatchObject({
      success: false,
      error: { code: 'tool_not_available' },
    });
  });
});

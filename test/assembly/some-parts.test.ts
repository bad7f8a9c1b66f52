/** Registries with some of the parts: each works without the others, in any order. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { partOf, partTable } from '../../src/assembly/part-table.ts';
import type { Part } from '../../src/core/part.ts';
import { RegistryParts } from '../../src/core/registry/define-part.ts';
import { Registry } from '../../src/core/registry/registry.ts';
import { defineTool, type RegistryOptions, type ToolResult } from '../../src/index.ts';
import { codeMode } from '../../src/parts/code/part.ts';
import { credentials } from '../../src/parts/credentials/part.ts';
import { delegation } from '../../src/parts/delegation/part.ts';
import { diagnostics } from '../../src/parts/diagnostics/part.ts';
import { discovery } from '../../src/parts/discovery/part.ts';
import { durableApprovals } from '../../src/parts/durable-approvals/part.ts';
import { explain } from '../../src/parts/explain/part.ts';
import { idempotency } from '../../src/parts/idempotency/part.ts';
import { jsonSchemas } from '../../src/parts/json-schema/part.ts';
import { lookAlikes } from '../../src/parts/look-alikes/part.ts';
import { offload } from '../../src/parts/offload/part.ts';
import { origins } from '../../src/parts/origins/part.ts';
import { quotas } from '../../src/parts/quotas/part.ts';
import { ruleReview } from '../../src/parts/rule-review/part.ts';
import { scopes } from '../../src/parts/scopes/part.ts';
import { secrets } from '../../src/parts/secrets/part.ts';
import { undo } from '../../src/parts/undo/part.ts';
import { versions } from '../../src/parts/versions/part.ts';

const withParts = (parts: readonly Part[], options: RegistryOptions = {}): Registry =>
  new Registry(options, new RegistryParts(parts, partOf));

const tool = (name: string, description: string, more: object = {}) =>
  defineTool({
    name,
    description,
    parameters: z.object({ to: z.string().optional() }),
    parallelSafe: true,
    handler: () => `${name} ran`,
    ...more,
  });
const mail = tool('send_email', 'Sends an e-mail.');
const weather = tool('get_weather', 'Tells the weather of a city.');
const log = tool('build_log', 'Returns the log of a build.', {
  outputStrategy: 'offload',
  maxOutputChars: 400,
  handler: () => 'line\n'.repeat(1_000),
});
const git = (version: string, more: object = {}) =>
  tool('git', 'Runs git.', { version, handler: () => version, ...more });

describe('discovery alone', () => {
  const registry = withParts([discovery()]);
  registry.registerAll([mail, weather]);

  test('a session finds tools by what they do', () => {
    const session = registry.createSession({ sessionId: 'plain' });
    expect(session.search('send a message by e-mail').map(({ name }) => name)).toEqual([
      'send_email',
    ]);
    expect(session.effectiveTools().names).toEqual(['send_email', 'get_weather']);
  });

  test('a session lists `find_tools` and what it finds, and plans a batch with both', async () => {
    const session = registry.createSession({ sessionId: 'few', discovery: {} });
    expect(session.effectiveTools().names).toEqual(['find_tools']);
    expect((await session.call('find_tools', { query: 'weather' })).success).toBe(true);
    expect(session.effectiveTools().names).toEqual(['find_tools', 'get_weather']);
    const calls = ['find_tools', 'get_weather', 'unknown'].map((name) => ({ id: name, name }));
    expect(session.plan(calls)).toMatchObject({ groups: [['find_tools', 'get_weather']] });
  });
});

test('without discovery, a session lists all of its tools', () => {
  const registry = withParts([]);
  registry.registerAll([mail, weather]);
  const session = registry.createSession({ sessionId: 's' });
  expect(session.tools().map(({ name }) => name)).toEqual(['send_email', 'get_weather']);
});

describe('versions', () => {
  test('alone: a name has several, and a profile selects one', async () => {
    const registry = withParts([versions()]);
    registry.registerAll([git('1.0.0'), git('2.0.0')]);
    registry.defineProfile({ id: 'old', tools: ['git@^1'] });
    const outputs = [undefined, 'old'].map((profile) =>
      registry.createSession({ sessionId: profile ?? 's', profile }).call('git', {}),
    );
    expect(await Promise.all(outputs)).toMatchObject([{ output: '2.0.0' }, { output: '1.0.0' }]);
  });

  test('absent: a name has one, which a later version may replace', async () => {
    const registry = withParts([]);
    const first = git('1.0.0');
    registry.register(first);
    expect(() => registry.register(git('1.0.0'))).toThrow('already registered in version 1.0.0');
    expect(() => registry.scope('plugin').register(git('2.0.0'))).toThrow('by `host`');
    expect(registry.registerOrReplace(git('2.0.0'))).toBe(true);
    expect(registry.listTools().map(({ version }) => version)).toEqual(['2.0.0']);
    const session = registry.createSession({ sessionId: 's' });
    expect(await session.call('git', {})).toMatchObject({ output: '2.0.0' });
    expect(registry.unregister(first)).toBe(false);
    expect(registry.unregister('git')).toBe(true);
    expect(registry.count).toBe(0);
    registry.register(first);
    expect(registry.get('git')).toBe(first);
  });
});

const all = [
  codeMode,
  credentials,
  delegation,
  diagnostics,
  discovery,
  durableApprovals,
  explain,
  idempotency,
  jsonSchemas,
  lookAlikes,
  offload,
  origins,
  quotas,
  ruleReview,
  scopes,
  secrets,
  undo,
  versions,
];

test('the order in which parts are given changes nothing', async () => {
  expect(all.map((part) => part().name).sort()).toEqual(partTable.map(({ part }) => part).sort());
  const run = async (parts: readonly (() => Part)[]): Promise<unknown> => {
    const registry = withParts(
      parts.map((part) => part()),
      {
        idempotency: {},
        offload: {},
        quotas: [{ id: 'few', tools: 'send_email', max: 1, per: 'day', by: 'session' }],
        rules: [{ id: 'no-weather', effect: 'deny', tools: 'get_weather' }],
        newId: () => 'id',
      },
    );
    registry.registerAll([mail, weather, log, git('1.0.0'), git('2.0.0')]);
    registry.defineProfile({ id: 'p', tools: ['send_email', 'git@^1', 'build_log'] });
    const session = registry.createSession({ sessionId: 's' });
    const narrow = registry.createSession({ sessionId: 'n', profile: 'p', discovery: {} });
    const key = { idempotencyKey: 'k' };
    const results = [
      await session.call('send_email', {}, key),
      await session.call('send_email', {}, key),
      await session.call('send_email', {}),
      await session.call('build_log', {}),
      await narrow.call('find_tools', { query: 'git' }, key),
      await narrow.call('find_tools', { query: 'git' }, key),
      await narrow.call('git', {}),
    ];
    const explained = await session.explain('send_email', {});
    return [
      results.map(shown),
      narrow.effectiveTools().names,
      session.effectiveTools().names,
      session.search('e-mail').map(({ name }) => name),
      explained.code,
      registry.listTools().map(({ name, version }) => [name, version]),
    ];
  };
  const expected = await run(all);
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
      async (parts) => {
        expect(await run(parts)).toEqual(expected);
      },
    ),
    { numRuns: 30 },
  );
});

/** A result without what differs from call to call. */
function shown(result: ToolResult): unknown {
  const { replayed, truncated } = result.metadata;
  return [
    result.success ? String(result.output).slice(0, 100) : result.error.reason,
    replayed,
    truncated?.strategy,
  ];
}

/** A file brings the parts that it uses to a registry of `host-tools/core`, and no others. */
import { describe, expect, test } from 'vitest';
import { partLoaders } from '../../../src/assembly/load-part.ts';
import { partTable } from '../../../src/assembly/part-table.ts';
import { registryStateOf } from '../../../src/core/registry/state-of.ts';
import { defineGate, HostToolRegistry } from '../../../src/core.ts';
import { explain } from '../../../src/parts/explain/part.ts';
import { loadHostTools, watchHostTools } from '../../../src/surfaces/config/index.ts';
import { folder } from './folder.ts';

const partsOf = (registry: HostToolRegistry): readonly string[] =>
  registryStateOf(registry)
    .parts.specs.map(({ name }) => name)
    .sort();

const module = './handlers.mjs';
const tool = { name: 'a', description: 'Does something.', module, function: 'a' };
const withSecret = {
  parameters: { type: 'object', properties: { key: { type: 'string', secret: true } } },
};
const approvers = { any: ['ann'] };
const rule = { effect: 'deny', tools: 'other' };
const quota = { id: 'q', tools: 'a', max: 1, per: 'day', by: 'registry' };
const profile = (one: object) => ({ tools: [tool], profiles: { p: one } });
/** Tools of files have plain JSON Schemas. */
const ofTools = ['jsonSchemas'];

/** By place and name of the table: a file that uses it, and what else that file needs. */
const uses: Readonly<Record<string, readonly [object, readonly string[]]>> = {
  'registry quotas': [{ quotas: [quota] }, []],
  'profile quotas': [profile({ tools: ['a'], quotas: [quota] }), ofTools],
  'session code': [{ code: true }, []],
  'schemas json': [{ tools: [tool] }, []],
  'tests matches': [{ rules: [{ ...rule, when: { x: { matches: '^a' } } }] }, []],
  'tests alike': [{ rules: [{ ...rule, when: { x: { alike: ['a'] } } }] }, []],
  'tests origin': [{ rules: [{ ...rule, when: { x: { origin: 'untrusted' } } }] }, []],
  'ruleKeys origins': [{ rules: [{ ...rule, origins: 'untrusted' }] }, []],
  'ruleKeys actor': [{ rules: [{ ...rule, actor: { agent: 'researcher' } }] }, []],
  'profileTool origins': [
    profile({ tools: [{ name: 'a', origins: { output: 'trusted' } }] }),
    ofTools,
  ],
  'profileTool roles': [profile({ tools: [{ name: 'a', roles: { x: 'target' } }] }), ofTools],
  'profileTool scopes': [profile({ tools: [{ name: 'a', scopes: ['x'] }] }), ofTools],
  'askKeys approvers': [{ rules: [{ ...rule, effect: 'ask', approvers }] }, []],
  'profile approvers': [profile({ tools: ['a'], approvers }), ofTools],
  'profileTool approvers': [
    profile({ tools: [{ name: 'a', requiresApproval: true, approvers }] }),
    ofTools,
  ],
  'tool requiresApproval.approvers': [
    { tools: [{ ...tool, requiresApproval: { title: 'Do it?', approvers } }] },
    ofTools,
  ],
  'tool scopes': [{ tools: [{ ...tool, scopes: ['x'] }] }, ofTools],
  'tool outputStrategy: "offload"': [{ tools: [{ ...tool, outputStrategy: 'offload' }] }, ofTools],
  'tool external': [
    { tools: [{ name: 'a', description: 'Runs elsewhere.', external: true }] },
    ofTools,
  ],
  'rule shadow': [{ rules: [{ ...rule, shadow: true }] }, []],
  'names range': [
    { tools: [{ ...tool, version: '1.0.0' }], profiles: { p: { tools: ['a@^1'] } } },
    ofTools,
  ],
  'names second version': [
    {
      tools: [
        { ...tool, version: '1.0.0' },
        { ...tool, version: '2.0.0' },
      ],
    },
    ofTools,
  ],
  'marks secret': [{ tools: [{ ...tool, ...withSecret }] }, ofTools],
};

/** What no file can say: options of registries and sessions, methods, and functions of a tool. */
const notInFiles =
  /^(?:session(?! code$)\w*|registryMethods|call) |^registry (?!quotas$)|^tool (?:attributes|credentials|revert)$/;

const table = partTable.flatMap(({ part, subpath: _, ...places }) =>
  Object.entries(places).flatMap(([place, names]) =>
    names.map((name): [string, string] => [`${place} ${name}`, part]),
  ),
);

const at = (file: object): string =>
  folder({ 'a.json': file, 'handlers.mjs': 'export const a = () => "done";' }).at('a.json');

describe('a file for a registry without parts', () => {
  test('each use of the table is in a file, or cannot be', () => {
    const names = table.map(([use]) => use);
    expect(names.filter((use) => !notInFiles.test(use)).sort()).toEqual(Object.keys(uses).sort());
    expect(Object.keys(partLoaders).sort()).toEqual(partTable.map(({ part }) => part).sort());
  });

  test.each(table.filter(([use]) => Object.hasOwn(uses, use)))(
    '%s brings %s',
    async (use, part) => {
      const [file, others] = uses[use] as (typeof uses)[string];
      const registry = new HostToolRegistry();
      expect((await loadHostTools(at(file), registry)).failed).toEqual([]);
      expect(partsOf(registry)).toEqual([part, ...others].sort());
    },
  );

  test('that uses none brings none', async () => {
    const registry = new HostToolRegistry();
    const report = await loadHostTools(at({ rules: [rule] }), registry);
    expect(report).toMatchObject({ failed: [], rules: 1 });
    expect(partsOf(registry)).toEqual([]);
  });

  test('governs calls before the gates of the host, as parts that it gives do', async () => {
    const seen: unknown[] = [];
    const registry = new HostToolRegistry({
      gates: [
        defineGate({ name: 'seen', at: 'start', run: ({ tool }) => void seen.push(tool.name) }),
      ],
    });
    await loadHostTools(at({ tools: [tool], quotas: [quota] }), registry);
    const session = registry.createSession({ sessionId: 's' });
    expect((await session.call('a', {})).output).toBe('done');
    expect((await session.call('a', {})).error?.reason).toBe('quota_exceeded');
    expect(seen).toEqual(['a']);
  });

  test('is joined by another file, which brings what it needs', async () => {
    const registry = new HostToolRegistry({ parts: [explain()] });
    await loadHostTools(at({ tools: [tool] }), registry);
    await loadHostTools(at({ quotas: [quota] }), registry);
    expect(partsOf(registry)).toEqual(['explain', 'jsonSchemas', 'quotas']);
    const [one, other] = [at({ quotas: [{ ...quota, id: 'r' }] }), at({ rules: [rule] })];
    await Promise.all([one, one, other].map((path) => loadHostTools(path, registry)));
    expect(partsOf(registry)).toEqual(['explain', 'jsonSchemas', 'quotas']);
  });

  test('brings nothing once a session was opened, and the report names the part', async () => {
    const registry = new HostToolRegistry();
    registry.createSession({ sessionId: 's' });
    const { failed } = await loadHostTools(at({ quotas: [quota] }), registry);
    expect(failed).toMatchObject([
      { section: 'quotas', reason: expect.stringContaining("from 'host-tools/quotas'") },
    ]);
    expect(partsOf(registry)).toEqual([]);
  });

  test('is watched with its parts', async () => {
    const registry = new HostToolRegistry();
    const watch = await watchHostTools(at({ quotas: [quota] }), registry);
    watch.close();
    expect(partsOf(registry)).toEqual(['quotas']);
  });

  test('leaves other registries as they are', async () => {
    const registry = new HostToolRegistry();
    await loadHostTools(at({ quotas: [quota] }), registry);
    expect(() => new HostToolRegistry().addQuotas([])).toThrow(/host-tools\/quotas/);
  });
});

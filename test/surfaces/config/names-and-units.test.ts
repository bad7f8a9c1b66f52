import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { internalsOf } from '../../../src/core/tool/definition.ts';
import { HostToolRegistry } from '../../../src/index.ts';
import { loadHostTools } from '../../../src/surfaces/config/index.ts';
import { timeoutMsOf, timeoutOrSeconds } from '../../../src/surfaces/config/value-formats.ts';
import { folder } from './folder.ts';

const handlers = { 'h.mjs': 'export const wait = () => 1; export const look = () => 2;' };
const base = { name: 'wait', description: 'Waits.', module: './h.mjs' };

/** Loads a file into a registry whose warnings are kept. */
async function loaded(content: object) {
  const { at } = folder({ ...handlers, 'a.json': content });
  const warned: string[] = [];
  const logger = { warn: (_: object, text = '') => void warned.push(text), error: () => {} };
  const registry = new HostToolRegistry({ logger });
  const report = await loadHostTools(at('a.json'), registry);
  return { registry, report, warned };
}

const times: readonly (readonly [string, number])[] = [
  ['1ms', 1],
  ['0.5ms', 0.5],
  ['500 ms', 500],
  ['5s', 5_000],
  ['0.1s', 100],
  ['1.1s', 1_100],
  ['2m', 120_000],
  ['1.5 m', 90_000],
  ['1h', 3_600_000],
  ['596h', 2_145_600_000],
];

describe('a time', () => {
  test.each(times)('%s is read', (timeout, ms) => {
    expect(timeoutOrSeconds.safeParse(timeout).success).toBe(true);
    expect(timeoutMsOf({ timeout })).toBe(ms);
  });

  test.each([
    ...['', '5', 's', '5S', '5 sec', '5  s', ' 5s', '5s ', '-5s', '+5s', '5e3ms', '.5s', '5.s'],
    ...['0s', '0.0h', '597h', '1d', '1h30m', '5,5s', '٥s', '9'.repeat(400), `${'9'.repeat(400)}s`],
    ...[0, -1, 1e-10, 597 * 3_600, '0.0000001ms'],
  ])('%j is refused', (timeout) => {
    expect(timeoutOrSeconds.safeParse(timeout).success).toBe(false);
  });

  test('is the same in each unit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000_000 }), (seconds) => {
        const ms = seconds * 1_000;
        for (const timeout of [seconds, `${seconds}s`, `${ms}ms`, `${ms} ms`])
          expect(timeoutMsOf({ timeout })).toBe(ms);
      }),
    );
  });
});

test('a tool is the same, whichever names and units its entry has', async () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const question = { title: 'Wait?', risk: 'low' };
  const seen = async (entry: object) => {
    const { registry, report } = await loaded({ tools: [{ ...base, ...entry }] });
    expect(report.failed).toEqual([]);
    const tool = registry.get('wait')!;
    const {
      requiresApproval,
      execution: { timeoutMs },
    } = internalsOf(tool);
    return {
      ...tool,
      schema: tool.parameters,
      print: tool.fingerprint,
      timeoutMs,
      requiresApproval,
    };
  };
  const expected = await seen({
    parameters: schema,
    requiresApproval: question,
    timeoutMs: 2_500,
    annotations: { readOnly: true, openWorld: false },
  });
  expect(expected).toMatchObject({ timeoutMs: 2_500, requiresApproval: question, schema });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('parameters', 'inputSchema'),
      fc.constantFrom('requiresApproval', 'requires_approval', 'needsApproval'),
      fc.constantFrom<object>(
        { timeoutMs: 2_500 },
        { timeout: '2.5s' },
        { timeout: '2500ms' },
        { timeout: 2.5 },
      ),
      fc.constantFrom<object>(
        { readOnly: true, openWorld: false },
        { readOnlyHint: true, openWorldHint: false },
        { readOnlyHint: true, openWorld: false },
      ),
      async (input, asks, limit, annotations) => {
        expect(await seen({ [input]: schema, [asks]: question, ...limit, annotations })).toEqual(
          expected,
        );
      },
    ),
    { numRuns: 20 },
  );
});

test('a tool of a profile may have its limit with a unit', async () => {
  const tools = [base, { ...base, name: 'look' }];
  const { registry, report } = await loaded({
    tools,
    profiles: {
      list: {
        tools: [
          { name: 'wait', timeout: '2s' },
          { name: 'look', timeoutMs: 7 },
        ],
      },
      map: { tools: { wait: { knobs: {}, timeout: '1m' }, look: {} } },
    },
  });
  expect(report.failed).toEqual([]);
  expect(registry.profile('list')?.tools).toMatchObject([
    { name: 'wait', timeoutMs: 2_000 },
    { name: 'look', timeoutMs: 7 },
  ]);
  expect(registry.profile('map')?.tools[0]).toMatchObject({ name: 'wait', timeoutMs: 60_000 });
  expect(JSON.stringify(registry.profile('list'))).not.toContain('"timeout"');
});

test.each<[object, RegExp]>([
  [{ tools: [{ name: 'wait', timeout: 5 }] }, /timeout`: expected a time with its unit, such as/],
  [{ tools: [{ name: 'wait', timeout: '5s', timeoutMs: 5 }] }, /are spellings of the same field/],
  [{ tools: { wait: { knobs: {}, timeout: '5s', timeoutMs: 5 } } }, /are spellings of the same/],
  [{ tools: { wait: { timeout: '5s' } } }, /`timeout` could be a setting of the profile or one of/],
])('a limit of a profile that is not clear is refused: %j', async (profile, reason) => {
  const { report } = await loaded({ tools: [base], profiles: { p: profile } });
  expect(report.failed).toMatchObject([
    { section: 'profiles', reason: expect.stringMatching(reason) },
  ]);
});

describe('a limit without a unit', () => {
  test('is read as seconds, and logged once for each load', async () => {
    const tools = ['a', 'b', 'c', 'd', 'e'].map((name) => ({
      ...base,
      name,
      function: 'wait',
      timeout: 2,
    }));
    const { registry, warned } = await loaded({
      tools,
      mcpServers: { files: { command: 'x', labels: { '*': { timeout: 3 } } } },
    });
    expect(internalsOf(registry.get('a')!).execution.timeoutMs).toBe(2_000);
    expect(warned).toEqual([
      '`timeout` without a unit is read as seconds (tool `a`, tool `b`, tool `c`, tool `d` and 2 ' +
        'more); write the unit, as in `timeout: 5s`, or milliseconds, as in `timeoutMs: 5000`',
    ]);
  });

  test('is the only one that is logged', async () => {
    const { warned } = await loaded({
      tools: [
        { ...base, timeout: '2s' },
        { ...base, name: 'look', timeoutMs: 2_000 },
      ],
      mcpServers: { files: { command: 'x', labels: { '*': { timeout: '3s' } } } },
    });
    expect(warned).toEqual([]);
  });
});

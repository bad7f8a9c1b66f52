/** Rules and policy tests that are made from recorded calls. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  HostToolRegistry,
  type Policy,
  type RegistryOptions,
} from '../../../src/index.ts';
import { readRules } from '../../../src/surfaces/config/read-rules.ts';
import { yamlReader } from '../../../src/surfaces/config/read-yaml.ts';
import { parseVisible } from '../../../src/surfaces/pages/browser/parts/visible.ts';
import type {
  RuleProposal,
  RuleRequest,
  RuleTrial,
  TestTrial,
} from '../../../src/surfaces/pages/inspector-make-wire.ts';
import type { JsonObject } from '../../../src/values/json/index.ts';
import { cli } from '../../cli/cli-run.ts';
import { inspect } from './kit.ts';
import { tools } from './made/tools.ts';

const folder = mkdtempSync(join(tmpdir(), 'host-tools-made-'));
afterAll(() => rmSync(folder, { recursive: true }));
const cwd = fileURLToPath(new URL('./made/', import.meta.url));
const module = ['--host-tools-module', './tools.ts'];

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const rules = [
  { id: 'no-eve', effect: 'deny', tools: 'pay', when: { to: 'eve' }, reason: 'known_thief' },
  { id: 'deny-pay', effect: 'ask', tools: 'pay', when: { cents: { gte: 1_000 } } },
] as const;

/** What `rules` are as a file. */
const gates = file(
  'gates.yaml',
  `rules:
  - { id: no-eve, effect: deny, tools: pay, when: { to: eve }, reason: known_thief }
  - { id: deny-pay, effect: ask, tools: pay, when: { cents: { gte: 1000 } } }
profiles: { careful: { tools: [pay], default: ask } }
`,
);

function make(options: RegistryOptions = {}) {
  const registry = new HostToolRegistry({ redact: ['pin'], rules, ...options });
  registry.registerAll(tools);
  registry.defineProfile({ id: 'careful', tools: ['pay'], default: 'ask' });
  const kit = inspect(registry);
  const session = registry.createSession({
    sessionId: 's1',
    principal: 'ann',
    approver: () => ({ decision: 'allow_once' }),
  });
  const propose = (n: number) => kit.get<RuleProposal & { error?: string }>(`rule?n=${n}`);
  const rule = async (request: Partial<RuleRequest>) =>
    (await (
      await kit.post('rule', { n: 1, effect: 'deny', principal: false, fields: [], ...request })
    ).json()) as RuleTrial & { error?: string };
  const policyTest = async (n: number, wanted = 'recorded') =>
    (await (await kit.post('test', { n, expect: wanted })).json()) as TestTrial & {
      error?: string;
    };
  return { registry, kit, session, propose, rule, policyTest };
}

describe('a rule that is made from a call', () => {
  test('is proposed with the values of the input, and how each can be tested', async () => {
    const { session, propose } = make();
    const input = { to: 'bob@shop.example', cents: 5, pin: '1234', tags: ['a', 'b'], lines: [] };
    await session.call('pay', { ...input, lines: [{ sku: 'x', count: 2 }] });
    const { fields, effect, more } = await propose(1);
    expect([effect, more]).toEqual(['ask', 0]);
    expect(fields).toEqual([
      {
        path: 'to',
        value: '"bob@shop.example"',
        tests: ['equals', 'glob'],
        glob: '*@shop.example',
      },
      { path: 'cents', value: '5', tests: ['equals', 'gte', 'lte'] },
      { path: 'pin', value: '"[redacted]"', tests: [], why: 'redacted' },
      { path: 'tags', value: '"a"', tests: ['equals', 'glob'], glob: 'a*' },
      { path: 'tags', value: '"b"', tests: ['equals', 'glob'], glob: 'b*' },
      { path: 'lines.*.sku', value: '"x"', tests: ['equals', 'glob'], glob: 'x*' },
      { path: 'lines.*.count', value: '2', tests: ['equals', 'gte', 'lte'] },
    ]);
  });

  test('allows by proposal what only the default denied, and asks about what was allowed', async () => {
    const { registry, session, propose, rule, kit } = make({ rules: [], default: 'deny' });
    await session.call('pay', { to: 'bob', cents: 5 });
    expect((await propose(1)).effect).toBe('allow');
    const made = await rule({ effect: 'allow', fields: [{ at: 0, test: 'equals' }] });
    expect(made.changes).toEqual([{ before: 'deny', after: 'allow', calls: 1 }]);
    registry.addRules([{ effect: 'allow' }]);
    await session.call('pay', { to: 'bob', cents: 5 });
    expect((await propose(2)).effect).toBe('ask');
    await kit.inspector.close();
  });

  test('is tried on the recorded calls, which do not change, and nothing runs', async () => {
    const asked: string[] = [];
    const policy: Policy = {
      id: 'watching',
      check: ({ tool }) => {
        asked.push(tool.name);
        return { effect: 'allow' };
      },
    };
    const { registry, session, rule, kit } = make({ policies: [policy] });
    for (const [to, cents] of [
      ['bob', 5],
      ['bob', 2_000],
      ['eve', 7],
      ['carl', 5],
    ])
      await session.call('pay', { to, cents });
    asked.length = 0;
    const before = JSON.stringify(registry.metrics());
    const trial = await rule({ principal: true, fields: [{ at: 0, test: 'equals' }] });
    expect(trial).toEqual({
      yaml: `rules:
  - id: deny-pay-2
    effect: deny
    tools: pay
    principal: ann
    when: { to: bob }
`,
      calls: 4,
      judged: 4,
      matched: 2,
      changed: 2,
      changes: [
        { before: 'allow', after: 'deny', calls: 1 },
        { before: 'ask', after: 'deny', calls: 1 },
      ],
      first: [
        { n: 1, before: 'allow', after: 'deny' },
        { n: 2, before: 'ask', after: 'deny' },
      ],
      unjudged: { cut: 0, unknown: 0, invalid: 0 },
      redacted: 0,
      unasked: 4,
      withoutFacts: 0,
    });
    expect([asked, JSON.stringify(registry.metrics())]).toEqual([[], before]);
    await kit.inspector.close();
  });

  test('does in the files what the page says', async () => {
    const { registry, session, rule, kit } = make();
    const inputs = [
      { to: 'bob', cents: 5, note: '/docs/a.txt' },
      { to: 'bob', cents: 90, note: '/docs/b.txt' },
      { to: 'dan', cents: 90, note: 'x: "y" # \u202e\n' },
    ];
    for (const input of inputs) await session.call('pay', input);
    const choices: Partial<RuleRequest>[] = [
      {},
      { effect: 'ask', fields: [{ at: 1, test: 'gte' }] },
      { effect: 'allow', fields: [{ at: 1, test: 'lte', value: 50 }] },
      { fields: [{ at: 2, test: 'glob' }] },
      { fields: [{ at: 0, test: 'glob', value: '*an' }] },
      { n: 3, fields: [{ at: 2, test: 'equals' }] },
      { principal: true, fields: [0, 1, 2].map((at) => ({ at, test: 'equals' as const })) },
    ];
    const calls = inputs.map((input, at) => ({
      callId: String(at + 1),
      toolName: 'pay',
      input,
      principal: 'ann',
    }));
    const from = file('calls.json', JSON.stringify(calls));
    for (const [at, choice] of choices.entries()) {
      const trial = await rule(choice);
      expect(trial.error).toBeUndefined();
      const path = file(`made-${at}.yaml`, trial.yaml);
      const checked = await cli(['validate', path, ...module], { cwd });
      expect([checked.exit, checked.stdout + checked.stderr]).toEqual([0, expect.anything()]);
      const whole = file(`all-${at}.yaml`, `${trial.yaml}${gatesRules()}`);
      const tried = await cli(
        ['policy', 'backtest', ...module, '--host-tools', gates, '--from', from, '--json'].concat([
          '--rules',
          whole,
        ]),
        { cwd },
      );
      const { summary, changed } = JSON.parse(tried.stdout) as {
        summary: RuleTrial;
        changed: { callId: string; before: string; after: string }[];
      };
      expect([trial.judged, trial.changed, trial.changes]).toEqual([
        summary.judged,
        summary.changed,
        summary.changes,
      ]);
      expect(trial.first).toEqual(
        changed.map(({ callId, before, after }) => ({ n: Number(callId), before, after })),
      );
    }
    expect(
      await registry.createSession({ sessionId: 'later' }).explain('pay', inputs[0]),
    ).toMatchObject({ decision: { effect: 'allow' } });
    await kit.inspector.close();
  });

  test('never has a redacted value, whoever asks for it', async () => {
    const { session, rule, kit } = make();
    await session.call('pay', { to: 'bob', cents: 5, pin: '98765-4321', note: 'pin 98765-4321' });
    for (const field of [
      { at: 2, test: 'equals' },
      { at: 2, test: 'glob', value: '*' },
      { at: 3, test: 'equals' },
      { at: 0, test: 'glob', value: '[redacted]' },
      { at: 9, test: 'equals' },
      { at: 0, test: 'gte' },
      { at: 1, test: 'glob' },
    ] as RuleRequest['fields']) {
      const response = await kit.post('rule', {
        n: 1,
        effect: 'deny',
        principal: false,
        fields: [field],
      });
      expect([field, response.status]).toEqual([field, 409]);
      expect(await response.text()).not.toContain('yaml');
    }
    expect((await rule({})).redacted).toBe(1);
    await kit.inspector.close();
  });

  test('says which recorded calls it could not judge', async () => {
    const { registry, session, rule, kit } = make();
    await session.call('pay', { to: 'bob', cents: 5 });
    await session.call('pay', { to: 'bob', cents: 5, note: 'x'.repeat(50_000) });
    await session.call('nothing', {});
    await session.call('pay', { to: 5 });
    await session.call('pay', { to: 'bob', cents: 5, pin: '1234' });
    const ending = registry.createSession({ sessionId: 's2', facts: { a: 1 } });
    await ending.call('pay', { to: 'bob', cents: 5 });
    await ending.close();
    expect(await rule({ fields: [{ at: 0, test: 'equals' }] })).toMatchObject({
      calls: 6,
      judged: 3,
      matched: 3,
      unjudged: { cut: 1, unknown: 1, invalid: 1 },
      redacted: 1,
      withoutFacts: 0,
    });
    registry.addRules([{ effect: 'ask', facts: { a: 2 } }]);
    expect((await rule({})).withoutFacts).toBe(1);
    expect((await rule({ n: 2 })).error).toContain('not kept the whole input');
    expect((await rule({ n: 3 })).error).toContain('no tool with this name');
    expect((await rule({ n: 99 })).error).toContain('no longer kept');
    await kit.inspector.close();
  });

  test('about a value that no call can have is refused in the words of validate', async () => {
    const { session, rule, propose, kit } = make();
    await session.call('pay', { to: 'bob', cents: 5, lines: [{ sku: 'x', count: 1 }], more: 1 });
    expect((await propose(1)).fields[4]).toMatchObject({ path: 'more', tests: [], why: 'never' });
    const fields = [{ at: 3, test: 'lte', value: 0 }] as const;
    expect((await rule({ fields })).error).toMatch(/lines\.\*\.count.*never|no .*lines/);
    expect((await rule({ fields: [{ ...fields[0], value: 1 }] })).yaml).toContain('{ lte: 1 }');
    await kit.inspector.close();
  });

  test('is added to the present rules as they were written, of whatever form', async () => {
    const { registry, session, rule, kit } = make({
      default: 'ask',
      rules: [
        { effect: 'allow', tools: ['pay', 'op*'], annotations: { readOnly: true } },
        { id: 'who', effect: 'deny', principal: { in: ['eve', 'mallory'] }, reason: 'not_you' },
        { id: 'via', effect: 'deny', surface: 'mcp', shadow: true },
        { id: 'night', effect: 'deny', facts: { open: { equals: false } } },
        { id: 'list', effect: 'ask', when: [{ path: ['a.b'], equals: 1 }] },
        { id: 'far', effect: 'ask', tools: 'open', origins: { of: ['untrusted'], only: 'urls' } },
        { id: 'tag', effect: 'deny', tags: 'none', source: 'host' },
      ],
    });
    registry.addRules([{ id: 'later', effect: 'deny', when: { cents: { gt: 100 } } }]);
    registry.defineProfile({ id: 'own', tools: ['pay'], rules: [{ effect: 'ask', tools: 'pay' }] });
    const sessions = [
      session,
      registry.createSession({ sessionId: 's2', principal: 'eve' }),
      registry.createSession({ sessionId: 's3', facts: { open: false } }),
      registry.createSession({ sessionId: 's4', profile: 'own' }),
    ];
    for (const one of sessions) {
      await one.call('pay', { to: 'bob', cents: 5 });
      await one.call('pay', { to: 'bob', cents: 500 }, { surface: { name: 'mcp' } });
      await one.call('open', { 'a.b': 1, url: 'https://evil.example' });
    }
    const never = { n: 1, fields: [{ at: 0, test: 'glob', value: 'no one' }] } as const;
    for (const effect of ['deny', 'ask', 'allow'] as const)
      expect(await rule({ ...never, effect })).toMatchObject({
        judged: 12,
        matched: 0,
        changed: 0,
      });
    await kit.inspector.close();
  });

  test('uses the facts and the profile of each session', async () => {
    const { registry, rule, kit } = make({
      rules: [{ id: 'closed', effect: 'deny', facts: { open: false } }],
    });
    const closed = registry.createSession({ sessionId: 'night', facts: { open: false } });
    const careful = registry.createSession({ sessionId: 'day', profile: 'careful' });
    await closed.call('pay', { to: 'bob', cents: 5 });
    void careful.call('pay', { to: 'bob', cents: 5 });
    expect((await rule({})).changes).toEqual([{ before: 'ask', after: 'deny', calls: 1 }]);
    await careful.close();
    // The profile is still known.
    expect((await rule({})).changes).toEqual([{ before: 'ask', after: 'deny', calls: 1 }]);
    await kit.inspector.close();
  });

  test('has valid YAML for any input, which matches its own call', async () => {
    const { session, rule, propose, policyTest, kit } = make({ rules: [], redact: [] });
    const read = await yamlReader();
    const text = fc.oneof(
      fc.string({ maxLength: 8 }),
      fc.string({ unit: 'binary', maxLength: 5 }),
      fc.constantFrom('true', '~', '1e3', '- a', 'a: b', '#', '\u202e', '*', '&a', "'", '"', '\\'),
    );
    const { tree } = fc.letrec<{ tree: unknown; leaf: unknown }>((tie) => ({
      leaf: fc.oneof(
        text,
        fc.integer(),
        fc.double({ noNaN: true }),
        fc.boolean(),
        fc.constant(null),
      ),
      tree: fc.oneof(
        { maxDepth: 3 },
        tie('leaf'),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(
          fc.oneof(text, fc.constantFrom('a', 'a.b', 'a@b', '__proto__')),
          tie('tree'),
          {
            maxKeys: 3,
          },
        ),
      ),
    }));
    let n = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(text, tree, { maxKeys: 4 }),
        fc.constantFrom('deny' as const, 'ask' as const),
        async (input, effect) => {
          await session.call('open', input);
          n++;
          const { fields } = await propose(n);
          const chosen = fields.flatMap(({ tests }, at) =>
            tests.length === 0 ? [] : [{ at, test: tests.at(-1) as 'equals' }],
          );
          const trial = await rule({ n, effect, fields: chosen });
          const { value } = read(trial.yaml) as { value: { rules: JsonObject[] } };
          const { rules: made } = await readRules(file('any.yaml', trial.yaml));
          expect(made).toEqual(value.rules);
          expect(trial.matched).toBeGreaterThan(0);
          // The page makes invisible characters visible, which must not change what is copied.
          expect(parseVisible(JSON.stringify(trial.yaml))).toBe(trial.yaml);
          const tested = await policyTest(n);
          const table = read(tested.yaml) as { value: { tests: [{ input: unknown }] } };
          expect(JSON.stringify(table.value.tests[0].input)).toBe(
            JSON.stringify(JSON.parse(JSON.stringify(input))),
          );
          expect(parseVisible(JSON.stringify(tested.yaml))).toBe(tested.yaml);
          expect(tested.passes).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
    await kit.inspector.close();
  });

  test('has keys that YAML can read, however they are written', async () => {
    const { session, rule, propose, policyTest, kit } = make();
    const deep = { ['k'.repeat(400)]: { ['l'.repeat(400)]: { ['m'.repeat(400)]: 1 } } };
    const names = ['\u200b', '\u0001', '"', '\u{e0001}'].map((one) => one.repeat(240));
    const inputs = [
      deep,
      ...names.map((name) => ({ [name]: 1, a: 1 })),
      { ['\u200b'.repeat(70)]: 1 },
    ];
    for (const [at, input] of inputs.entries()) {
      const n = at + 1;
      await session.call('open', input);
      const { fields } = await propose(n);
      const trial = await rule({ n, fields: fields.map((_, of) => ({ at: of, test: 'equals' })) });
      expect(trial).toMatchObject({ matched: expect.any(Number) });
      expect((await readRules(file('keys.yaml', trial.yaml))).rules).toHaveLength(1);
      const tested = await policyTest(n);
      if (tested.error === undefined)
        expect((await yamlReader())(tested.yaml).value).toMatchObject({ tests: [{ input }] });
      else expect(tested.error).toContain('more than 500 characters, with its escapes');
    }
    await kit.inspector.close();
  });

  test.each(['*', 'pa?', 'p*'])('about the tool `%s` would be about others', async (name) => {
    const { registry, session, rule, propose, policyTest, kit } = make();
    registry.register(
      defineTool({ name, description: 'A.', parameters: z.object({}), handler: () => 'done' }),
    );
    await session.call(name, {});
    const why = expect.stringContaining('read the name of this tool as a pattern');
    expect([await propose(1), await rule({})]).toEqual([{ error: why }, { error: why }]);
    expect((await policyTest(1)).passes).toBe(true);
    await kit.inspector.close();
  });

  test('stops with the request, and a few are tried at once', async () => {
    const { session, kit, rule } = make();
    for (let at = 0; at < 50; at++) await session.call('pay', { to: 'bob', cents: at });
    const stopped = new AbortController();
    stopped.abort();
    const body = { n: 1, effect: 'deny', principal: false, fields: [] };
    const init = { method: 'POST', body: JSON.stringify(body), signal: stopped.signal };
    expect((await kit.ask('api/rule', init)).status).toBe(409);
    const statuses = await Promise.all(
      Array.from({ length: 6 }, async () => (await kit.post('rule', body)).status),
    );
    expect(statuses.sort()).toEqual([200, 200, 200, 200, 409, 409]);
    expect((await rule({})).calls).toBe(50);
    await kit.inspector.close();
  });

  test.each([
    ['no object', []],
    ['without members', {}],
    ['with another effect', { n: 1, effect: 'run', principal: false, fields: [] }],
    [
      'with a foreign test',
      {
        n: 1,
        effect: 'deny',
        principal: false,
        fields: [{ at: 0, test: 'matches', value: '(a+)+' }],
      },
    ],
    [
      'with an object as value',
      { n: 1, effect: 'deny', principal: false, fields: [{ at: 0, test: 'glob', value: {} }] },
    ],
    [
      'with a very long glob',
      {
        n: 1,
        effect: 'deny',
        principal: false,
        fields: [{ at: 0, test: 'glob', value: '*'.repeat(2_000) }],
      },
    ],
    [
      'with many tests',
      { n: 1, effect: 'deny', principal: false, fields: Array(41).fill({ at: 0, test: 'equals' }) },
    ],
    [
      'with a member of a prototype',
      { n: 1, effect: 'deny', principal: false, fields: [{ at: 0, test: 'constructor' }] },
    ],
  ])('that is asked for %s is refused', async (_, body) => {
    const { session, kit } = make();
    await session.call('pay', { to: 'bob', cents: 5 });
    expect((await kit.post('rule', body)).status).toBe(400);
    expect((await kit.post('test', body)).status).toBe(400);
    await kit.inspector.close();
  });

  test('needs the token and the page’s own origin, as any request', async () => {
    const { kit } = make();
    for (const path of ['api/rule?n=1', 'api/rule', 'api/test']) {
      const init = path.includes('?') ? {} : { method: 'POST', body: '{}' };
      expect((await kit.ask(path, init, { authorization: '' })).status).toBe(401);
      expect((await kit.ask(path, init, { origin: 'https://evil.example' })).status).toBe(403);
    }
    await kit.inspector.close();
  });
});

/** The items of the list of rules in the file of the gates. */
function gatesRules(): string {
  return rules.map((rule) => `  - ${JSON.stringify(rule)}\n`).join('');
}

describe('a policy test that is made from a call', () => {
  test('passes in the command line as on the page', async () => {
    const { registry, session, policyTest, kit } = make();
    const careful = registry.createSession({
      sessionId: 's2',
      profile: 'careful',
      approver: () => ({ decision: 'reject_once' }),
    });
    await session.call('pay', { to: 'eve', cents: 5 });
    await session.call('pay', { to: 'bob', cents: 5, note: 'a: "b" # \u202e\n' });
    await session.call('pay', { to: 'bob', cents: 2_000 }, { surface: { name: 'mcp' } });
    await session.call('pay', { to: 'bob' });
    await session.call('nothing', {});
    await careful.call('pay', { to: 'bob', cents: 5, lines: [{ sku: 'x', count: 1 }] });
    await careful.call('open', { a: { 'b.c': [1, null, [true]] } });
    const decisions: string[] = [];
    for (let n = 1; n <= 7; n++) {
      const { yaml, passes, expected } = await policyTest(n);
      decisions.push(expected.decision);
      expect([n, passes]).toEqual([n, true]);
      const path = file(`test-${n}.yaml`, yaml);
      const argv = ['policy', 'test', path, ...module, '--host-tools', gates];
      const { exit, stdout } = await cli(argv, { cwd });
      expect([n, exit, stdout]).toEqual([n, 0, expect.stringContaining('as expected')]);
    }
    expect(decisions).toEqual([
      'deny',
      'allow',
      'ask',
      'invalid_input',
      'tool_not_found',
      'ask',
      'hidden',
    ]);
    expect((await policyTest(1)).yaml).toBe(`tests:
  - tool: pay
    input:
      to: eve
      cents: 5
    principal: ann
    expect:
      decision: deny
      reason: known_thief
      ruleId: no-eve
`);
    await kit.inspector.close();
  });

  test('may expect something else, and says what the rules decide', async () => {
    const { session, policyTest, registry, kit } = make();
    await session.call('pay', { to: 'bob', cents: 5 });
    const failing = await policyTest(1, 'deny');
    expect(failing).toMatchObject({
      passes: false,
      expected: { decision: 'deny' },
      found: { decision: 'allow' },
    });
    const path = file('failing.yaml', failing.yaml);
    const argv = ['policy', 'test', path, ...module, '--host-tools', gates];
    expect((await cli(argv, { cwd })).exit).toBe(1);
    registry.addRules([{ id: 'frozen', effect: 'deny', tools: 'pay' }]);
    expect(await policyTest(1)).toMatchObject({
      passes: false,
      found: { decision: 'deny', reason: 'denied_by_rule', ruleId: 'frozen' },
    });
    expect(await policyTest(1, 'now')).toMatchObject({ passes: true });
    await kit.inspector.close();
  });

  test('asks the policies of the host, as `policy test` does, and no one else', async () => {
    const policy: Policy = {
      id: 'small-sums',
      check: ({ input }) =>
        Number(input.cents) > 50 ? { effect: 'deny', reason: 'too_much' } : { effect: 'allow' },
    };
    const { session, policyTest, kit } = make({ policies: [policy] });
    await session.call('pay', { to: 'bob', cents: 51 });
    expect(await policyTest(1)).toMatchObject({
      passes: true,
      found: { decision: 'deny', reason: 'too_much', ruleId: 'small-sums' },
    });
    await kit.inspector.close();
  });

  test('begins with empty quotas, and says so where a quota decided', async () => {
    const { session, policyTest, kit } = make({
      quotas: [{ id: 'two', tools: 'open', max: 1, per: 'day', by: 'principal' }],
    });
    await session.call('open', {});
    await session.call('open', {});
    expect(await policyTest(2)).toMatchObject({
      passes: true,
      expected: { decision: 'allow' },
      notes: ['quota'],
    });
    await kit.inspector.close();
  });

  test('names no facts, and says where secrets are missing', async () => {
    const { registry, policyTest, kit } = make();
    const session = registry.createSession({ sessionId: 's2', facts: { key: 'hush-hush' } });
    await session.call('pay', { to: 'bob', cents: 5, pin: '123456' });
    const { yaml, notes } = await policyTest(1);
    expect(yaml).toContain('pin: "[redacted]"');
    expect(yaml).not.toMatch(/123456|hush/);
    expect(notes).toEqual(['redacted', 'facts']);
    await kit.inspector.close();
  });

  test('is not made of an input that is not kept whole', async () => {
    const { session, policyTest, kit } = make();
    await session.call('open', { text: 'x'.repeat(50_000) });
    await session.call('open', { ['k'.repeat(600)]: 1 });
    expect((await policyTest(1)).error).toContain('not kept the whole input');
    expect((await policyTest(2)).error).toContain('a name of more than 500 characters');
    await kit.inspector.close();
  });
});

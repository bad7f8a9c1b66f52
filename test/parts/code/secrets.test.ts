/** Secrets of programs: what their calls mark as secret is in nothing that others read. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type CallRecord, observeCalls } from '../../../src/extend.ts';
import {
  type AnyEvent,
  type AnyTool,
  type ApprovalRequest,
  defineTool,
  memoryStore,
  type RegistryOptions,
} from '../../../src/index.ts';
import { namesAny, spelledOut } from '../../../src/parts/secrets/program-text.ts';
import { instrument } from '../../../src/surfaces/telemetry/otel/index.ts';
import { telemetry } from '../../surfaces/telemetry/otel/kit.ts';
import { key, suspending, type World, world, yes } from './kit.ts';

const secret = "it's hunter2";
const token = 'token-of-the-bank';

const secretive = [
  defineTool({
    name: 'login',
    description: 'Signs in.',
    parameters: z.object({ user: z.string(), password: z.string().meta({ secret: true }) }),
    outputSchema: z.object({ token: z.string().meta({ secret: true }) }),
    handler: () => ({ token }),
  }),
  defineTool({
    name: 'unlock',
    description: 'Unlocks a door.',
    parameters: z.object({ pin: z.string() }),
    handler: () => 'open',
  }),
] as AnyTool<unknown>[];

/** A session whose questions, events and records are kept. */
function watched(registry: RegistryOptions = {}) {
  const asked: ApprovalRequest[] = [];
  const told: (AnyEvent | CallRecord)[] = [];
  const made = world({
    registry,
    tools: secretive,
    session: {
      approver: (request) => {
        asked.push(request);
        return 'allow_once';
      },
    },
  });
  made.registry.events.on('*', (event) => void told.push(event));
  observeCalls('test', made.registry, {
    starting: (record) => void told.push(record),
    ended: (record) => void told.push(record),
  });
  return { ...made, asked, told };
}

const pay = 'await tools.pay({ amount: 20 });';
const withSource = ({ program }: ApprovalRequest): boolean => program?.source !== undefined;

describe('a program with a secret that a tool marks', () => {
  test.each([
    ['before its call', `${pay}\nawait tools.login({ user: "a", password: "${secret}" })`],
    ['after its call', `await tools.login({ user: "a", password: "${secret}" });\n${pay}`],
    ['in a branch that never runs', `${pay}\nif (false) tools.login({ password: "${secret}" })`],
    [
      'in a name of its own',
      `const login = tools["lo" + 'gin'];\n${pay}\nlogin({ user: "a", password: "${secret}" })`,
    ],
    [
      'behind escapes',
      `const to = tools["\\x6c\\u006f\\u{67}in"];\n${pay}\nto({ user: "a", password: "${secret}" })`,
    ],
  ])('%s is told by no question, event or record', async (_, code) => {
    const { session, asked, told } = watched();
    await session.call('run_code', { code });
    expect(asked.map(({ program }) => Object.keys(program ?? {}))).toEqual([['line']]);
    expect(asked[0]?.program?.line).toBe(code.startsWith('await tools.pay') ? 1 : 2);
    expect(told.length).toBeGreaterThan(4);
    expect(JSON.stringify([asked, told])).not.toContain('hunter2');
  });

  test.each([
    ['as it is', `'${secret.replace("'", "\\'")}'`],
    ['in parts', `"it's hun" + 'ter2'`],
    ['with an escape', `"it's hun\\x74er2"`],
  ])('is found once it was used, %s, whatever the tool is called by', async (_, literal) => {
    const { session, asked } = watched();
    const code = `await tools[['lo', 'gin'].join('')]({ user: "a", password: ${literal} });\n${pay}`;
    await session.call('run_code', { code });
    expect(asked.map(({ program }) => program)).toEqual([{ line: 2 }]);
  });

  test('that only a path of the registry names is found once it was used', async () => {
    const { session, asked, told } = watched({ redact: ['pin'] });
    const code = `${pay}\nawait tools.unlock({ pin: "836251" });\n${pay}`;
    await session.call('run_code', { code });
    expect(asked.map(withSource)).toEqual([true, false]);
    const last = told.at(-1);
    expect(JSON.stringify(last)).not.toContain('836251');
  });

  test('is not in the lines that it logs, nor in the result of its event', async () => {
    const { session, told } = watched();
    const code =
      `const { token } = await tools.login({ user: "a", password: "${secret}" });\n` +
      'console.log("got", token); return { token }';
    const result = await session.call('run_code', { code });
    expect(result.metadata.logs).toEqual(['got [redacted]']);
    expect(result.output).toEqual({ token });
    expect(JSON.stringify(told)).not.toContain(token);
  });

  test('is in no span, also if spans have contents', async () => {
    const { session, registry } = watched();
    const { tracer, meter, spans } = telemetry();
    instrument(registry, { tracer, meter, content: true });
    const code =
      `const { token } = await tools.login({ user: "a", password: "${secret}" });\n` +
      `if (token.length > 99) ${pay}\nthrow new Error(token)`;
    await session.call('run_code', { code });
    const told = spans().filter(({ name }) => name.startsWith('execute_tool'));
    expect(told.map(({ attributes }) => attributes['gen_ai.tool.call.arguments'])).toEqual([
      '{"user":"a","password":"[redacted]"}',
      '{"code":"[redacted]"}',
    ]);
    const all = JSON.stringify(
      told.map(({ attributes, status, events }) => [attributes, status, events]),
    );
    expect(all).toContain('The program failed');
    expect(all).not.toContain('hunter2');
    expect(all).not.toContain(token);
  });

  test('that an earlier run has used, in another process, is as secret as if this one had', async () => {
    const store = memoryStore();
    const process = (): World => {
      const made: World = suspending({
        tools: secretive,
        registry: { store, approvals: { secret: key, session: () => made.session } },
      });
      return made;
    };
    const [first, second] = [process(), process()];
    const code =
      `const { token } = await tools[['lo', 'gin'].join('')]({ user: "a", password: "${secret}" });\n` +
      `console.log(token);\n${pay}\n${pay}\nreturn 1`;
    await first.session.call('run_code', { code }, { callId: 'c' });
    const lines: unknown[] = [];
    for (const _ of [1, 2]) {
      await expect.poll(async () => (await second.registry.approvals.pending()).length).toBe(1);
      const [asked] = await second.registry.approvals.pending();
      lines.push(asked?.program);
      await second.registry.approvals.answer(asked?.id as string, yes);
    }
    expect(lines).toEqual([{ line: 3 }, { line: 4 }]);
    await expect
      .poll(async () => (await second.session.approvals.outcome('c')).result?.metadata.logs)
      .toEqual(['[redacted]']);
  });
});

test('the source of a program without secrets is shown, whatever words it has', async () => {
  const { session, asked } = watched();
  const code = `const loginPage = "a\\n" + 'b', $login = 1;\n${pay}`;
  await session.call('run_code', { code });
  expect(asked.map(({ program }) => program)).toEqual([{ source: code, line: 2 }]);
});

test('the source is searched in little time, however many tools have secrets', () => {
  const names = Array.from({ length: 5_000 }, (_, at) => `tool_${at}`);
  const source = '"a" + \'\\x41\' '.repeat(5_400);
  const from = performance.now();
  expect(spelledOut(source).some((text) => namesAny(text, names))).toBe(false);
  // On an idle machine it takes 20 ms.
  expect(performance.now() - from).toBeLessThan(1_000);
  expect(namesAny('tools.tool_7({})', names)).toBe(true);
  expect(namesAny('tools.tool_77777({})', names)).toBe(false);
  expect(namesAny('tools["files.read"]({})', ['files.read'])).toBe(true);
});

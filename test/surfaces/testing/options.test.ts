/** The options of what is there for tests: the same voice as everywhere, and own members alone. */
import { afterEach, expect, test } from 'vitest';
import { isMisuseError } from '../../../src/index.ts';
import { createModule, fromNodeBinding } from '../../../src/surfaces/amplifier/index.ts';
import {
  coordinatorConformance,
  createTestNodeBinding,
  createTestSession,
  mockTool,
  scriptedModel,
  surfaceConformance,
  TestCoordinator,
} from '../../../src/surfaces/testing/index.ts';

const never = (): never => {
  throw new Error('never made');
};

test.each<[string, () => unknown, string]>([
  [
    'createTestSession',
    () => createTestSession({ tool: [] } as never),
    'createTestSession: unknown option `tool`; did you mean `tools`?',
  ],
  [
    'createTestSession, of a session',
    () => createTestSession({ approvalmode: 'ask' } as never),
    'createTestSession: unknown option `approvalmode`; did you mean `approvalMode`?',
  ],
  [
    'createTestSession, of another library',
    () => createTestSession({ middleware: [] } as never),
    'createTestSession: unknown option `middleware`; did you mean `hooks`?',
  ],
  [
    'createTestSession, no object',
    () => createTestSession(5 as never),
    'createTestSession: expected an object of options, got `5` (number).',
  ],
  [
    'mockTool',
    () => mockTool({ name: 'a', outptu: 1 } as never),
    'mockTool: unknown field `outptu`; did you mean `output`?',
  ],
  [
    'mockTool, of a definition',
    () => mockTool({ name: 'a', require: [] } as never),
    'mockTool: unknown field `require`; did you mean `requires`?',
  ],
  [
    'scriptedModel',
    () => scriptedModel([{ txt: 'x' }] as never),
    'scriptedModel: turn 1: unknown field `txt`; did you mean `text`?',
  ],
  [
    'scriptedModel, a call',
    () => scriptedModel(['x', { toolCalls: [{ name: 'a', args: {} }] }] as never),
    'scriptedModel: call 1 of turn 2: unknown field `args`; did you mean `arguments`?',
  ],
  [
    'coordinatorConformance',
    () => coordinatorConformance(never, { feature: {} } as never),
    'coordinatorConformance: unknown option `feature`; did you mean `features`?',
  ],
  [
    'coordinatorConformance, a feature',
    () => coordinatorConformance(never, { features: { mount: false } } as never),
    'coordinatorConformance: unknown feature `mount`; did you mean `mounts`?',
  ],
  [
    'surfaceConformance',
    () => surfaceConformance(never, { feature: {} } as never),
    'surfaceConformance: unknown option `feature`; did you mean `features`?',
  ],
  [
    'surfaceConformance, a feature',
    () => surfaceConformance(never, { features: { code: false } } as never),
    'surfaceConformance: unknown feature `code`; did you mean `codes`?',
  ],
  [
    'TestCoordinator',
    () => new TestCoordinator({ modes: 'sync' } as never),
    'TestCoordinator: unknown option `modes`; did you mean `mode`?',
  ],
  [
    'createTestNodeBinding',
    () => createTestNodeBinding({ hook: never } as never),
    'createTestNodeBinding: unknown option `hook`; did you mean `hooks`?',
  ],
  [
    'fromNodeBinding',
    () => fromNodeBinding(createTestNodeBinding(), { asyncHandler: 'pass' } as never),
    'fromNodeBinding: unknown option `asyncHandler`; did you mean `asyncHandlers`?',
  ],
  [
    'fromNodeBinding, a value',
    () => fromNodeBinding(createTestNodeBinding(), { asyncHandlers: 'allow' } as never),
    'fromNodeBinding: expected `asyncHandlers` to be "deny" or "pass", got `allow` (string).',
  ],
  [
    'createModule',
    () => createModule([], { rule: [] } as never),
    'createModule: unknown option `rule`; did you mean `rules`?',
  ],
])('%s says which option is unknown, and which one was probably meant', (_, make, message) => {
  try {
    make();
    expect.unreachable();
  } catch (error) {
    expect(isMisuseError(error)).toBe(true);
    expect((error as Error).message).toBe(message);
  }
});

test('the configuration of a module says it in the same way', async () => {
  const { mount } = createModule([]);
  await expect(mount(new TestCoordinator(), { profil: 'reader' })).rejects.toThrow(
    'Module config: unknown key `profil`; did you mean `profile`?',
  );
});

const prototype = Object.prototype as Record<string, unknown>;
const added: string[] = [];
afterEach(() => {
  for (const key of added.splice(0)) delete prototype[key];
});

test('members of `Object.prototype` are not options', async () => {
  const members = {
    profile: 'none',
    tools: [5],
    mode: 'later',
    sessionId: 7,
    output: 'polluted',
    error: 'polluted',
    delayMs: -1,
    features: { no: true },
    text: 5,
    toolCalls: 5,
  };
  for (const [key, value] of Object.entries(members)) {
    added.push(key);
    Object.defineProperty(prototype, key, { value, configurable: true, writable: true });
  }
  const session = createTestSession({ repair: 'off' });
  expect([session.sessionId, session.tools()]).toEqual(['test-session', []]);
  expect(new TestCoordinator({}).mode).toBe('async');
  expect(coordinatorConformance(never, {}).length).toBeGreaterThan(0);
  expect(scriptedModel([{}]).remaining).toBe(1);
  const mock = mockTool({ name: 'mine', handler: () => 'ran' });
  expect((await createTestSession({ tools: [mock] }).call('mine', {})).output).toBe('ran');
});

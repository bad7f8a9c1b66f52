/**
 * The session in which executors are tested: a tool on the executor, and tools that it may call.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type AnyEvent,
  type ApprovalRequest,
  defineTool,
  type Executor,
  type MaybePromise,
  type ToolAnnotations,
  type ToolSession,
} from '../../../core.ts';
import { HostToolRegistry } from '../../../index.ts';

/**
 * What a definition consists of besides what runs it, as JSON. Where a handler runs by its
 * definition, as in a fleet, the definition there has these fields and the handler, and so the same
 * fingerprint.
 */
export interface ExecutorTaskDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: { readonly type: 'object' };
  readonly annotations: ToolAnnotations;
  readonly uses: readonly string[];
  readonly events: readonly string[];
}

/** What an executor has to run. */
export interface ExecutorTask {
  /** The `file:` address of a module that imports nothing. */
  readonly module: string;
  /** The name of the export that is the handler. */
  readonly export: string;
  /** The name of the tool. */
  readonly toolName: string;
  /** The hints of the tool. */
  readonly annotations: ToolAnnotations;
  /** The tools that the handler may call. */
  readonly uses: readonly string[];
  /** The fields of the tool's definition, for a worker that needs a definition of its own. */
  readonly definition: ExecutorTaskDefinition;
}

export type MakeExecutor = (task: ExecutorTask) => MaybePromise<Executor>;

/** A session whose tool `tested` runs a handler. */
export interface ExecutorWorld {
  readonly session: ToolSession;
  readonly executor: Executor | undefined;
  /** The events of its calls, without the parts that differ from call to call. */
  readonly heard: readonly string[];
  /** The questions that approvers got. */
  readonly asked: readonly ApprovalRequest[];
  /** Resolves when a handler waits. */
  readonly waits: Promise<void>;
  close(): Promise<void>;
}

const uses = ['child', 'child_failing', 'child_asking', 'child_waiting'];
const tested = 'tested';

/** @param make Undefined runs the handler in this process, as `handler` of the definition. */
export async function executorWorld(
  name: string,
  make: MakeExecutor | undefined,
): Promise<ExecutorWorld> {
  const module = await writeHandlers();
  const registry = new HostToolRegistry();
  addChildren(registry);
  const definition: ExecutorTaskDefinition = {
    name: tested,
    description: 'Runs a handler.',
    parameters: { type: 'object' },
    annotations: { readOnly: true },
    uses,
    events: ['found', 'waiting', 'yield'],
  };
  const executor = await make?.({
    module: module.address,
    export: name,
    toolName: tested,
    annotations: definition.annotations,
    uses,
    definition,
  });
  if (executor === undefined) {
    const members = (await import(module.address)) as Record<string, never>;
    registry.register(defineTool({ ...definition, handler: members[name] as never }));
  } else registry.register(defineTool({ ...definition, executor }));
  const asked: ApprovalRequest[] = [];
  const session = registry.createSession({
    sessionId: 'executor-conformance',
    cwd: '/work',
    environment: { LANG: 'C' },
    metadata: { team: 'a' },
    principal: 'ada',
    approver: (request) => {
      asked.push(request);
      return (request.input as { approve?: boolean }).approve === true
        ? 'allow_once'
        : { decision: 'reject_once', message: 'Not today.' };
    },
  });
  const { heard, waits } = listen(session);
  const close = async (): Promise<void> => {
    await registry.close();
    await module.remove();
  };
  return { session, executor, heard, asked, waits, close };
}

function addChildren(registry: HostToolRegistry): void {
  const parameters = { type: 'object' } as const;
  const description = 'Is called by a handler.';
  const add = (name: string, handler: (input: never, context: never) => unknown, more = {}): void =>
    void registry.register(
      defineTool({ name, description, parameters, handler: handler as never, ...more }),
    );
  add('child', ({ value }: { value: unknown }) => ({ got: value ?? null }));
  add('child_failing', () => {
    throw new Error('The child broke.');
  });
  add('child_asking', () => 'approved', { requiresApproval: true });
  add(
    'child_waiting',
    (_, { signal }: { signal: AbortSignal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  );
  add('child_hidden', () => 'never');
}

function listen(session: ToolSession): { heard: string[]; waits: Promise<void> } {
  const heard: string[] = [];
  let begin: () => void = () => {};
  const waits = new Promise<void>((resolve) => {
    begin = resolve;
  });
  session.events.on('*', (event: AnyEvent) => {
    switch (event.type) {
      case 'tool:progress': {
        const { done, total, message } = event;
        return void heard.push(JSON.stringify([event.type, done, total, message]));
      }
      case 'tool:event':
        if (event.name === 'waiting') begin();
        return void heard.push(JSON.stringify([event.type, event.name, event.data]));
      case 'tool:pre':
      case 'tool:post':
        return void heard.push(JSON.stringify([event.type, event.toolName]));
      case 'tool:error':
        return void heard.push(JSON.stringify([event.type, event.toolName, event.error.code]));
    }
  });
  return { heard, waits };
}

// The handlers with which executors are tested. An executor may run them in another process or on
// another machine, so they are the text of a module that imports nothing.

/** The text is plain JavaScript. `ok`, `fail` and `content` mark values as the package does. */
const text = `
const mark = (value, name) =>
  Object.freeze(Object.defineProperty(value, Symbol.for(name), { value: true }));
const ok = (output, metadata) => mark({ kind: 'ok', output, metadata }, 'host-tools.outcome');
const fail = (failure) => mark({ kind: 'fail', failure }, 'host-tools.outcome');
const content = (part) => mark(part, 'host-tools.content');
const soon = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export const echo = ({ value }) => value;
export const nothing = () => undefined;
export const noted = () => ok({ rows: 2 }, { pages: 3 });
export const parts = () => [
  content({ type: 'text', text: 'first' }),
  content({ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }),
];
export const failing = () =>
  fail({ message: 'The tree is dirty.', reason: 'dirty', details: { files: 2 }, retryable: true });
export const throwing = () => {
  throw new TypeError('It broke.');
};
export const rejecting = async () => {
  await soon(1);
  throw new Error('It broke later.');
};
export const throwingText = () => {
  throw 'only a text';
};
export const unreturnable = ({ kind }) =>
  ({
    number: () => ({ at: [1, NaN] }),
    big: () => 1n,
    function: () => ({ call: () => 1 }),
    circle: () => {
      const circle = { name: 'circle' };
      circle.self = circle;
      return circle;
    },
    map: () => new Map(),
  })[kind]();
export const date = () => ({ at: new Date(0), gone: undefined });
export const told = (input, context) => {
  const { sessionId, cwd, environment, metadata, principal, callId, toolName } = context;
  const { idempotencyKey, knobs } = context;
  const call = { input, callId, toolName, idempotencyKey, knobs };
  return { ...call, sessionId, cwd, environment, metadata, principal };
};
export const reporting = async (_, { progress, emit, log }) => {
  progress(1, 3, 'begun');
  emit('found', { names: ['a', 'b'] });
  emit('undeclared', 1);
  progress(2);
  await soon(1);
  log('notice', { text: 'halfway' });
  emit('found');
  progress(3, 3);
  return 'reported';
};
export const generating = async function* () {
  yield 'starting';
  yield { done: 1, total: 2, message: 'one' };
  yield { done: 2, total: 2 };
  return 'generated';
};
export const waiting = (_, { signal, emit }) =>
  new Promise((resolve, reject) => {
    emit('waiting');
    signal.addEventListener('abort', () => reject(signal.reason));
  });
export const slow = async ({ value }) => {
  await soon(10);
  return value;
};
export const asking = async ({ tool, input, options }, { tools }) => {
  const { success, output, error, metadata } = await tools.call(tool, input, options);
  const { callId, toolName, status } = metadata;
  return {
    success, output, status, toolName,
    code: error?.code, reason: error?.reason, message: error?.message,
    ...(options?.callId === undefined ? {} : { callId }),
  };
};
export const askingOften = async (_, { tools }) => {
  const calls = Array.from({ length: 100 }, (_, value) => tools.call('child', { value }));
  return (await Promise.all(calls)).map(({ output }) => output);
};
export const askingAndStopping = async (_, { tools }) => {
  const controller = new AbortController();
  const call = tools.call('child_waiting', {}, { signal: controller.signal });
  await soon(5);
  controller.abort();
  return (await call).error.code;
};
`;

/** A module with the handlers, on disk. */
export interface HandlerModule {
  readonly address: string;
  remove(): Promise<void>;
}

async function writeHandlers(): Promise<HandlerModule> {
  const folder = await mkdtemp(join(tmpdir(), 'host-tools-handlers-'));
  const file = join(folder, 'handlers.mjs');
  await writeFile(file, text);
  return {
    address: pathToFileURL(file).href,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/**
 * The handlers with which executors are tested. An executor may run them in another process or on
 * another machine, so they are the text of a module that imports nothing.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

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

export async function writeHandlers(): Promise<HandlerModule> {
  const folder = await mkdtemp(join(tmpdir(), 'host-tools-handlers-'));
  const file = join(folder, 'handlers.mjs');
  await writeFile(file, text);
  return {
    address: pathToFileURL(file).href,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

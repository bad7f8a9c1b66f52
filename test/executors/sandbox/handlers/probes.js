/** Handlers that try what a sandbox may not let them do. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

const tried = (deed) => {
  try {
    deed();
    return 'done';
  } catch (error) {
    return error.code ?? error.message;
  }
};

export const read = ({ path }) => tried(() => readFileSync(path));
export const write = ({ path }) => tried(() => writeFileSync(path, 'written'));
export const processes = () => tried(() => spawnSync(process.execPath, ['--version']));
export const shell = ({ command }) =>
  spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' }).stdout;
export const threads = () => tried(() => new Worker('', { eval: true }).unref());
export const variables = () => ({ ...process.env });
export const place = () => process.cwd();
export const pid = () => process.pid;
export const sees = ({ pid: other }) => tried(() => process.kill(other, 0));
export const services = (_, context) => context.services;
export const client = async (_, { client: agent }) => ({
  sampled: await agent.sample({ messages: [] }),
  elicited: await agent.elicit({ message: 'Sure?', requestedSchema: { type: 'object' } }),
});
export const said = (_, context) => {
  const { sessionId, cwd, environment, metadata, callId, deadline, idempotencyKey } = context;
  const frozen = [environment, metadata, metadata.user].every(Object.isFrozen);
  const timed = deadline !== undefined;
  return { sessionId, cwd, environment, metadata, callId, idempotencyKey, timed, frozen };
};
export const saysMuch = ({ events, chars }, { emit }) => {
  for (let sent = 0; sent < events; sent++) emit('much', 'x'.repeat(60_000));
  return 'y'.repeat(chars);
};
export const gives = (input) => input;
export const givesResponse = () => ({ pages: [new Response('text')] });
export const leavesLoop = () => {
  setTimeout(loop, 1);
  return process.pid;
};
export const loop = () => {
  for (;;);
};
export const waits = (_, { signal, emit }) =>
  new Promise((_resolve, reject) => {
    emit('waiting');
    signal.addEventListener('abort', () => reject(signal.reason));
  });
/** Ends at SIGUSR2. */
export const signalled = (_, { emit }) =>
  new Promise((resolve) => {
    process.once('SIGUSR2', () => resolve(process.pid));
    emit('listening', process.pid);
  });
export const endsGroup = ({ pid = 0 }) => {
  process.kill(pid, 'SIGKILL');
  return new Promise(() => {});
};
let count = 0;
export const counts = () => ++count;

/** Starts a process that outlives its parent, in a session of its own if asked to. */
export const leaves = ({ detached, file }) => {
  const text = `setInterval(() => require('node:fs').appendFileSync(${JSON.stringify(file)}, '.'), 20)`;
  const child = spawn(process.execPath, ['-e', text], { detached, stdio: 'ignore' });
  child.unref();
  return child.pid;
};
export const notAFunction = 5;

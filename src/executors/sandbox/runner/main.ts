/**
 * The program inside a sandbox. It loads the handler, runs one call after the other, and reports
 * to the host. It is bundled into one text, so that a sandbox does not have to read any file of
 * this package.
 */
import { isMainThread } from 'node:worker_threads';
import { errorName, messageOf } from '../../../values/errors/index.ts';
import { deepFreeze } from '../../../values/json/index.ts';
import type { HostMessage, SentContext } from '../messages.ts';
import { sentError } from './asks.ts';
import { type Channel, openChannel } from './channel.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { Run, type SandboxedHandler } from './run.ts';

/**
 * Signals that a terminal or a supervisor sends to a whole group in order to end the host, and the
 * one with which another sandbox could open the debugger of this process.
 */
const ignored = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1'] as const;

/**
 * Ignores these signals, so that the host decides when this process ends. After Ctrl-C, for
 * example, it may let the call finish. It also keeps a handler from sending a signal to the
 * host's group by accident.
 */
function leaveSignalsToHost(): void {
  for (const signal of ignored) process.on(signal, () => {});
  // Zero means the group of this process. It is the host's group, unless the handler may start
  // processes.
  if (mayStartProcesses()) return;
  const send = process.kill.bind(process);
  process.kill = (pid, signal) => send(isZero(pid) ? process.pid : pid, signal);
}

/** Reads a process id as Node does. An empty string, as from an empty file, is zero too. */
function isZero(pid: unknown): boolean {
  return pid !== null && Number(pid) === 0;
}

function mayStartProcesses(): boolean {
  const { permission } = process as { permission?: { has(scope: string): boolean } };
  return permission === undefined || permission.has('child');
}

type RunMessage = Extract<HostMessage, { t: 'run' }>;

function serve(channel: Channel): void {
  const outbox = createOutbox(channel);
  const runs = new Map<number, Run>();
  let handler: SandboxedHandler | undefined;
  let last: SentContext | undefined;
  const begin = (message: RunMessage): void => {
    outbox.confirmed(message.count, message.size);
    const run = new Run(message, outbox);
    runs.set(message.id, run);
    void run.start(handler as SandboxedHandler).then(() => runs.delete(message.id));
  };
  const crashed = (error: unknown, origin: string): void =>
    outbox.sendNow({
      t: 'crashed',
      rejection: origin === 'unhandledRejection',
      error: sentError(error),
    });
  // Afterwards Node ends the thread or the process, as it would without this listener.
  process.on('uncaughtExceptionMonitor', crashed);
  channel.onMessage((text) => {
    const message = JSON.parse(text) as HostMessage;
    switch (message.t) {
      case 'load':
        void load(message, outbox).then((loaded) => {
          handler = loaded;
          if (loaded !== undefined) outbox.send({ t: 'ready' });
        });
        return;
      case 'run':
        // Later calls get the same object, so it is frozen, as it is in the host.
        last = deepFreeze(message.context);
        begin(message);
        return;
      case 'next': {
        const { id, input, call, count, size } = message;
        const { callId, deadline, idempotencyKey, credentials } = call;
        const context = { ...(last as SentContext), callId, deadline, idempotencyKey, credentials };
        begin({ t: 'run', id, input, context, count, size });
        return;
      }
      case 'abort':
        runs.get(message.id)?.abort(message.reason);
        return;
      case 'answer':
        runs.get(message.id)?.answered(message);
        return;
      case 'ping':
        outbox.send({ t: 'pong' });
        return;
      case 'confirm':
        outbox.confirmed(message.count, message.size);
    }
  });
  outbox.send({ t: 'up' });
}

/** Imports the handler. If that fails, it reports why to the host and returns undefined. */
async function load(
  { module, export: name, otherwise, env }: Extract<HostMessage, { t: 'load' }>,
  outbox: Outbox,
): Promise<SandboxedHandler | undefined> {
  if (env !== undefined) {
    for (const one of Object.keys(process.env)) delete process.env[one];
    Object.assign(process.env, env);
  }
  let members: Readonly<Record<string, unknown>>;
  try {
    members = (await import(module)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const message = `${errorName(error)}: ${messageOf(error)}`.slice(0, 1_000);
    outbox.send({ t: 'unfit', why: 'module', message });
    return undefined;
  }
  const wanted = otherwise !== undefined && !Object.hasOwn(members, name) ? otherwise : name;
  const found = Object.hasOwn(members, wanted) ? members[wanted] : undefined;
  if (typeof found === 'function') return found as SandboxedHandler;
  const kind = found === undefined ? 'nothing' : `a value of type ${typeof found}`;
  const names = Object.keys(members).slice(0, 20).join(', ').slice(0, 500);
  outbox.send({
    t: 'unfit',
    why: 'export',
    message: `it is ${kind}; the module exports: ${names}`,
  });
  return undefined;
}

if (isMainThread) leaveSignalsToHost();
serve(openChannel());

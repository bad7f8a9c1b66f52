/** A sandbox that is a process. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex, Readable } from 'node:stream';
import { unavailableFault } from './fault.ts';
import { frameOf, frameReader } from './frames.ts';
import { processMemory, watchMemory } from './memory.ts';
import { maxMessage } from './messages.ts';
import { hasEnded, killWithHost, type Target } from './reaper.ts';
import {
  type Death,
  hungUp,
  lastWordsMs,
  type StartTransport,
  type TransportEvents,
  tailOf,
} from './transport.ts';

/** How processes are started. */
export interface ChildOptions {
  /** The program and its arguments up to the text of the runner, which comes last. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly maxMemoryMb: number;
  /**
   * Whether the process gets a session and a group of its own, so that its whole group can be
   * killed. A sandbox that may start processes or threads needs this. Otherwise it is better
   * without, because Linux may divide processor time by session.
   */
  readonly ownSession: boolean;
}

/** Returns the function that starts such processes. */
export function processes(options: ChildOptions): StartTransport {
  return (runner, events) => startChild(runner, options, events);
}

function startChild(
  runner: string,
  options: ChildOptions,
  events: TransportEvents,
): ReturnType<StartTransport> {
  const { maxMemoryMb, ownSession } = options;
  ignoreDebuggerSignal();
  const child = spawned(runner, options);
  const { pid } = child;
  const target = ownSession ? -pid : pid;
  try {
    killWithHost(target);
  } catch (error) {
    endTarget(target);
    throw error;
  }
  const channel = child.stdio[3] as Duplex & Referenced;
  const tail = tailOf(child.stderr as Readable);
  let death: Death | undefined;
  let hasExited = false;
  const kill = (why: Death): void => {
    death ??= why;
    // After its exit, its number may belong to another process.
    if (!hasExited) endTarget(target);
  };
  const memory = watchMemory(processMemory(pid), maxMemoryMb, kill);
  hear(channel, events, kill, () => death?.reason === 'sandbox_protocol');
  child.once('exit', () => {
    hasExited = true;
    memory.stop();
    // The processes that it has started are in its group.
    if (ownSession) endTarget(target);
    hasEnded(target);
  });
  onEnd(child, channel, (code, signal) => {
    channel.destroy();
    const printed = tail();
    const { reason, text, cause } = deathOf(death, code, signal, printed);
    events.died({ reason, text, cause: cause ?? (printed && new Error(printed)) });
  });
  // While a call runs, the open channel keeps the host's process alive. Once the channel has
  // closed, the child process does so, until it has ended.
  for (const one of [child, child.stdio[2]]) (one as Referenced).unref();
  channel.once('close', () => {
    child.ref();
    // The process may have closed the channel itself and go on running.
    setTimeout(kill, lastWordsMs, hungUp).unref();
  });
  return {
    send: (text) => {
      if (channel.writable) channel.write(frameOf(text));
    },
    backlog: () => channel.writableLength,
    kill,
    busy: (isBusy) => {
      memory.often(isBusy);
      isBusy ? channel.ref() : channel.unref();
    },
  };
}

/** @throws an error that ends the call as `sandbox_unavailable` */
function spawned(
  runner: string,
  { command: [program = '', ...args], env, cwd, ownSession }: ChildOptions,
): ChildProcess & { pid: number } {
  let cause: unknown;
  try {
    const child = spawn(program, [...args, runner], {
      cwd,
      env: { ...env },
      detached: ownSession,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    // Most errors come as this event, after the error below was thrown, which says the same.
    child.on('error', () => {});
    if (child.pid !== undefined) return child as ChildProcess & { pid: number };
  } catch (error) {
    cause = error;
  }
  throw unavailableFault(
    'sandbox_not_started',
    `The tool's sandbox could not be started: no process could be made with ${program} in its ` +
      'working directory. Check that both exist, and how many processes and open files the ' +
      'system allows.',
    cause,
  );
}

/** A handle that can keep the host's process alive. */
interface Referenced {
  ref(): unknown;
  unref(): unknown;
}

function hear(
  channel: Duplex,
  { message }: TransportEvents,
  kill: (why: Death) => void,
  isOver: () => boolean,
): void {
  const read = frameReader(maxMessage, (text) => {
    if (!isOver()) message(text);
  });
  channel.on('data', (piece: Buffer) => {
    if (isOver() || read(piece)) return;
    kill({ reason: 'sandbox_protocol', text: 'sent a message that is too long, and was ended' });
  });
  // Writing to a process that is about to end fails. Its end is reported elsewhere.
  channel.on('error', () => {});
}

/** Calls back once, after the process has ended and its channel was read to the end. */
function onEnd(
  child: ChildProcess,
  channel: Duplex,
  ended: (code: number | null, signal: NodeJS.Signals | null) => void,
): void {
  child.once('exit', (code, signal) => {
    let told = false;
    const tell = (): void => {
      if (told) return;
      told = true;
      clearTimeout(late);
      ended(code, signal);
    };
    // A process that it has started and that has left its group may keep the channel open. If this
    // process itself was busy for so long, one more turn of the event loop reads what has arrived.
    const late = setTimeout(() => setImmediate(tell), lastWordsMs);
    if (channel.destroyed || channel.readableEnded) tell();
    else channel.once('end', tell).once('close', tell);
  });
}

function endTarget(target: Target): void {
  try {
    process.kill(target, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

/**
 * The death of a process.
 * @param given why it was killed, if it was
 */
function deathOf(
  given: Death | undefined,
  code: number | null,
  signal: NodeJS.Signals | null,
  printed: string,
): Death {
  const own = deathBy(code, signal, printed);
  if (given === undefined) return own;
  // A large process needs time to end after its channel has closed, on a busy machine more than it
  // gets. Then the kill was not the cause of its death.
  const wasEnding = signal !== 'SIGKILL' || own.reason === 'sandbox_out_of_memory';
  return given === hungUp && wasEnding ? own : given;
}

function deathBy(code: number | null, signal: NodeJS.Signals | null, printed: string): Death {
  // V8 prints this before it aborts. The signal differs between versions, so it does not help.
  if (code !== 0 && /heap out of memory|out of memory/i.test(printed))
    return { reason: 'sandbox_out_of_memory', text: 'ran out of memory' };
  return {
    reason: 'sandbox_exited',
    text: signal === null ? `exited with code ${code}` : `was killed by ${signal}`,
  };
}

const ignore = (): void => {};

/**
 * Node opens its debugger when it gets SIGUSR1, and whoever reaches the debugger can run code in
 * the process. Node's permissions refuse a handler neither signals nor the network, so it could get
 * everything back that they do refuse. So this keeps the signal from opening the debugger, for as
 * long as the process lives: without a listener, the signal would then end the process. Has no
 * effect in a thread, which gets no signals.
 */
function ignoreDebuggerSignal(): void {
  if (!process.listeners('SIGUSR1').includes(ignore)) process.on('SIGUSR1', ignore);
}

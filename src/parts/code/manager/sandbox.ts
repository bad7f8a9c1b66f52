/** One program in its sandbox. What comes out of it is not trusted. */

import { randomUUID } from 'node:crypto';
import type { CodeFault, CodeOutcome, CodeRequest } from '../../../api/code.ts';
import { programEnded } from '../answers.ts';
import { bridge, maxLogChars, maxValueChars, wrapped } from '../prelude.ts';
import { Computing } from './computing.ts';
import type { HostMessage, ManagerMessage } from './messages.ts';
import { type World, worlds } from './one-world.ts';

export type Tell = (message: ManagerMessage) => void;
/** Whether it has ended, or could not begin because there is no room. */
export type Ended = 'over' | 'no room';
type Package = Pick<typeof import('run'), 'createRunner' | 'getHostFunctionContext'>;

/** Most requests beyond the calls that a program may make: pauses, searches and refused calls. */
const spareRequests = 10_000;
/** Most characters of an answer to a program. */
const maxAnswerChars = 8_000_000;
/** What has no limit of its own. */
const unlimited = 2_147_483_647;
/** Milliseconds after which a program counts as begun, since it may hide that it has. */
const startMs = 5_000;
/** Milliseconds until a program must be gone once it has returned. */
const leaveMs = 1_000;

export class Sandbox {
  readonly #start: Extract<HostMessage, { t: 'run' }>;
  readonly #tell: Tell;
  readonly #context: Package['getHostFunctionContext'];
  readonly #create: Package['createRunner'];
  readonly #controller = new AbortController();
  readonly #pending = new Map<number, (json: string | undefined) => void>();
  readonly #computing: Computing;
  readonly #world: World;
  readonly #secret = randomUUID();
  #requests = 0;
  #logged = 0;
  #begun = false;
  #ended = false;

  constructor(start: Extract<HostMessage, { t: 'run' }>, tell: Tell, run: Package) {
    this.#context = run.getHostFunctionContext;
    this.#create = run.createRunner;
    this.#start = start;
    this.#tell = tell;
    this.#world = { now: start.now, seed: start.seed, draws: 0, thread: undefined };
    const { cpuMs } = start.limits;
    const message = `The program has computed for ${cpuMs} milliseconds.`;
    this.#computing = new Computing(cpuMs, () => this.stop({ kind: 'cpu', message }));
  }

  /** Runs it. Never rejects. */
  async run(): Promise<Ended> {
    const { source, limits } = this.#start;
    const runner = this.#create({
      // A program that waits is run again from its journal, and not from what the package kept.
      continuationCodec: { encode: () => 'none', decode: () => Promise.reject(new Error('none')) },
      syncHostFunctions: {
        [bridge.now]: {
          begin: () => this.#begin(),
          log: (line: unknown) => this.#log(line),
          end: (kind: unknown, text: unknown, line: unknown) => this.#returned(kind, text, line),
        },
      },
    });
    const late = setTimeout(() => this.#begin(), startMs).unref();
    try {
      const { status } = await worlds.run(this.#world, () =>
        runner.run({
          source: wrapped(source, limits.maxCalls, this.#secret),
          hostFunctions: {
            [bridge.later]: {
              ask: (secret: unknown, ...[kind, name, input, line]: unknown[]) =>
                secret === this.#secret ? this.#ask({ kind, name, input, line }) : ended,
            },
          },
          abortSignal: this.#controller.signal,
          limits: {
            // The host has the clock, since it stops while a person is asked.
            timeoutMs: unlimited,
            memoryLimitBytes: limits.memoryMb * 1_048_576,
            maxSourceBytes: unlimited,
            maxResultBytes: 4_096,
            // Nothing is printed: the console of the program is another one.
            maxConsoleOutputBytes: 1,
            maxHostFunctionArgumentsBytes: 4 * maxValueChars,
            maxHostFunctionOutputBytes: 2 * maxAnswerChars,
            maxBridgeRequests: unlimited,
            maxInFlightBridgeRequests: unlimited,
            maxContinuationBytes: unlimited,
          },
        }),
      );
      const waits: CodeFault = { kind: 'waiting', message: 'The program waits for answers.' };
      this.#end(
        status === 'interrupted' ? { ok: false, fault: waits } : { ok: true, value: 'null' },
      );
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === 'RUN_CONCURRENCY_LIMIT' && !this.#begun && !this.#ended) return 'no room';
      this.#end({ ok: false, fault: this.#faultOf(error) });
    } finally {
      clearTimeout(late);
      this.#computing.stop();
    }
    return 'over';
  }

  answer(request: number, json: string | undefined): void {
    const resolve = this.#pending.get(request);
    this.#pending.delete(request);
    resolve?.(json);
  }

  /** Ends the program. */
  stop(fault: CodeFault): void {
    this.#end({ ok: false, fault });
    this.#controller.abort();
  }

  #begin(): void {
    if (this.#begun || this.#ended) return;
    this.#begun = true;
    if (this.#world.thread !== undefined) this.#computing.start(this.#world.thread);
    this.#tell({ t: 'begun', run: this.#start.run });
  }

  #log(line: unknown): void {
    if (this.#ended || typeof line !== 'string' || this.#logged >= maxLogChars) return;
    const shown = line.slice(0, maxLogChars - this.#logged);
    this.#logged += shown.length + 1;
    this.#tell({ t: 'log', run: this.#start.run, line: shown });
  }

  #returned(kind: unknown, text: unknown, line: unknown): void {
    if (typeof text !== 'string') return;
    if (kind === 'ok') this.#end({ ok: true, value: text.slice(0, maxValueChars) });
    else {
      const fault = kind === 'value' ? 'value' : kindOf(text);
      // The engine does not say where.
      const at = fault === 'syntax' ? importLine(this.#start.source) : lineOf(line);
      this.#end({ ok: false, fault: { kind: fault, message: text, line: at } });
    }
    // It has nothing more to do.
    setTimeout(() => this.#controller.abort(), leaveMs).unref();
  }

  async #ask({ kind, name, input, line }: Record<keyof CodeRequest, unknown>): Promise<string> {
    if (this.#ended) return ended;
    const request = ++this.#requests;
    const { run, limits } = this.#start;
    if (request > limits.maxCalls + spareRequests) {
      this.stop({ kind: 'flood', message: 'The program has made too many calls.' });
      return ended;
    }
    if (
      (kind !== 'call' && kind !== 'sleep' && kind !== 'find') ||
      typeof name !== 'string' ||
      typeof input !== 'string'
    )
      return ended;
    const { interrupt } = this.#context();
    const json = await new Promise<string | undefined>((resolve) => {
      this.#pending.set(request, resolve);
      this.#tell({ t: 'ask', run, request, kind, name, input, line: lineOf(line) ?? 0 });
    });
    return json ?? interrupt(null);
  }

  #end(outcome: CodeOutcome): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const resolve of this.#pending.values()) resolve(ended);
    this.#pending.clear();
    this.#tell({ t: 'end', run: this.#start.run, outcome });
  }

  #faultOf(error: unknown): CodeFault {
    const { code, name, message, stack } = error as Partial<Error> & { code?: unknown };
    const text = `${name}: ${message}`;
    if (code === 'RUN_TIMEOUT')
      return { kind: 'cpu', message: 'The program has computed for too long.' };
    if (code === 'RUN_USER_SOURCE_ERROR' || name === 'InternalError') {
      const [, at] = /run\.js:(\d+)/.exec(stack ?? '') ?? [];
      // What is missing at the end of a program is missed in the line behind it.
      const last = this.#start.source.split('\n').length;
      const line = at === undefined ? undefined : Math.min(Number(at), last);
      const kind = this.#begun ? kindOf(text) : name === 'SyntaxError' ? 'syntax' : kindOf(text);
      return { kind, message: text, line };
    }
    return { kind: /memory/i.test(text) ? 'memory' : 'lost', message: text };
  }
}

const ended = JSON.stringify(programEnded);

function kindOf(text: string): 'memory' | 'stack' | 'syntax' | 'thrown' {
  if (/^ReferenceError: could not load module '/.test(text)) return 'syntax';
  if (/^InternalError: out of memory/.test(text)) return 'memory';
  return /^(?:InternalError|RangeError): (?:Maximum call )?stack/.test(text) ? 'stack' : 'thrown';
}

/** The line of the first `import()`. */
function importLine(source: string): number | undefined {
  const at = source.search(/\bimport\s*\(/);
  return at < 0 ? undefined : source.slice(0, at).split('\n').length;
}

function lineOf(line: unknown): number | undefined {
  return typeof line === 'number' && Number.isSafeInteger(line) && line > 0 ? line : undefined;
}

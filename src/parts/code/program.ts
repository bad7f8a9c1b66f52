/** One program: its clock, its calls, and how it ends. */

import type { PendingApproval } from '../../api/approval.ts';
import type {
  CodeAnswer,
  CodeOutcome,
  CodeProgram,
  CodeRequest,
  CodeRunner,
} from '../../api/code.ts';
import type { ToolResult } from '../../api/result.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { ReadCallOptions } from '../../core/call/call-options.ts';
import { callTool } from '../../core/call/spine.ts';
import type { MadeCall } from '../../core/registry/ports.ts';
import { type SessionState, wholeSession } from '../../core/session/session-state.ts';
import { ownMessage } from '../../values/errors/index.ts';
import type { JsonValue } from '../../values/json/index.ts';
import { answerOf, programEnded, refusal, valueAnswer } from './answers.ts';
import { Clock } from './clock.ts';
import { canFind, findDeclarations } from './declarations.ts';
import type { Known } from './entries.ts';
import type { Journal } from './journal.ts';
import { maxLogChars } from './prelude.ts';
import { madeSlot, type Place, placeSlot } from './session-port.ts';
import type { CodeSettings } from './settings.ts';

/** What a program is run with. */
export interface ProgramParts {
  readonly call: FoundCall;
  readonly source: string;
  readonly seed: string;
  readonly now: number;
  readonly settings: CodeSettings;
  readonly runner: CodeRunner;
  /** Undefined if nothing is kept. */
  readonly journal: Journal | undefined;
}

/** How a program has ended, as far as it is not its own doing. */
export type Ended = CodeOutcome | 'timeout' | 'diverged' | 'lost' | 'ended';

export class Program {
  readonly #parts: ProgramParts;
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #places = new Map<string, Place>();
  readonly #made = new Map<string, MadeCall>();
  /** What goes on when a call has ended: the next one. */
  readonly #queue: (() => void)[] = [];
  readonly #pauses = new Set<() => void>();
  /** Lines that it has logged. */
  readonly logs: string[] = [];
  /** The questions that it waits for. */
  readonly questions: PendingApproval[] = [];
  #logRoom = maxLogChars;
  #asked = 0;
  #calls = 0;
  #running = 0;
  #ended: Ended | undefined;

  constructor(parts: ProgramParts) {
    this.#parts = parts;
    const { call, settings } = parts;
    this.#clock = new Clock(
      settings.timeoutMs,
      () => call.session.registry.monotonic(),
      () => this.#stop('timeout'),
    );
  }

  /** Whether it has asked for anything. */
  get hasAsked(): boolean {
    return this.#asked > 0;
  }

  /** Runs it to its end. Rejects if it cannot be run at all. */
  async run(): Promise<Ended> {
    const { call, source, seed, now, settings, runner, journal } = this.#parts;
    const { cpuMs, memoryMb, maxCalls } = settings;
    const { more } = call;
    placeSlot.set(more, this.#places);
    madeSlot.set(more, this.#made);
    more.ensureApproval().asking = (isAsking) => this.#clock.asking(isAsking);
    const onEnd = (): void => this.#stop('ended');
    call.onEnd(onEnd);
    const program: CodeProgram = {
      source,
      seed,
      now,
      limits: { cpuMs, memoryMb, maxCalls },
      signal: this.#controller.signal,
      begun: () => {
        if (this.#ended === undefined) this.#clock.begin();
      },
      log: (line) => this.#log(line),
      ask: (request) => this.#ask(request),
    };
    journal?.onLost(() => this.#stop('lost'));
    try {
      const outcome = await runner.run(program);
      this.#ended ??= outcome;
      if (outcome.ok && journal?.isWhole() === false) this.#ended = 'diverged';
      return this.#ended;
    } finally {
      this.#stop('ended');
      call.offEnd(onEnd);
    }
  }

  /** A runner of a host may log without end. */
  #log(line: string): void {
    if (this.#logRoom <= 0) return;
    const shown = line.slice(0, this.#logRoom);
    this.#logRoom -= shown.length + 1;
    this.logs.push(shown);
  }

  #stop(ended: Ended): void {
    this.#ended ??= ended;
    this.#clock.stop();
    this.#controller.abort();
    for (const go of [...this.#queue.splice(0), ...this.#pauses]) go();
  }

  async #ask(request: CodeRequest): Promise<CodeAnswer> {
    const position = ++this.#asked;
    try {
      return await this.#answer(request, position);
    } catch (error) {
      this.#parts.call.session.registry.hostFault(
        error,
        { callId: this.#parts.call.callId, source: 'code' },
        'a call of a program failed',
      );
      return refusal('internal', 'code', 'The call failed because of an internal error.');
    }
  }

  async #answer(request: CodeRequest, position: number): Promise<CodeAnswer> {
    if (this.#ended !== undefined) return programEnded;
    const { journal } = this.#parts;
    if (journal === undefined) return this.#noted(request, position, undefined);
    const known = await journal.recall(request, position, this.#session);
    if (known === 'diverged') {
      this.#stop('diverged');
      return programEnded;
    }
    if (known !== undefined && request.kind === 'call') this.#remember(request, known);
    if (this.#ended !== undefined) return programEnded;
    if (known?.waits !== undefined) {
      if (known.waits !== 'running') this.questions.push(known.waits);
      return 'waiting';
    }
    const answer = await this.#noted(request, position, known?.answer);
    if (answer === 'waiting' || this.#ended !== undefined) return answer;
    return (await journal.ended(request, position, answer, this.#session)) ? answer : programEnded;
  }

  /** What an earlier run has called is as secret as if this one had called it. */
  #remember({ name, input }: CodeRequest, { answer }: Known): void {
    const { call } = this.#parts;
    const output = typeof answer === 'object' && answer.ok ? answer.value : 'null';
    call.session.registry.ports.calls.masking?.collectEarlier(
      call,
      name,
      JSON.parse(input) as JsonValue,
      JSON.parse(output) as JsonValue,
    );
  }

  /** Gives the answer, and notes what has become of the call. */
  async #noted(
    request: CodeRequest,
    position: number,
    known: CodeAnswer | undefined,
  ): Promise<CodeAnswer> {
    const answer = known ?? (await this.#live(request, position));
    if (request.kind !== 'call' || answer === programEnded) return answer;
    if (answer === 'waiting') this.#made.delete(this.#idAt(position));
    else this.#note(request, position, answer.ok ? undefined : answer.error.code);
    return answer;
  }

  #note({ name }: CodeRequest, position: number, code: string | undefined): void {
    const callId = this.#idAt(position);
    this.#made.set(callId, { callId, toolName: name, code });
  }

  #idAt(position: number): string {
    return `${this.#parts.call.callId}/${position}`;
  }

  #live(request: CodeRequest, position: number): Promise<CodeAnswer> {
    if (request.kind === 'sleep') return this.#sleep(request);
    return request.kind === 'find' ? this.#find(request.name) : this.#call(request, position);
  }

  async #sleep({ input }: CodeRequest): Promise<CodeAnswer> {
    const ms: unknown = JSON.parse(input);
    if (typeof ms !== 'number')
      return refusal('invalid_input', 'ms', '`sleep` takes a number of milliseconds.');
    const asked = Math.max(0, ms);
    await new Promise<void>((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        this.#pauses.delete(go);
        resolve();
      };
      // A pause beyond its time lasts until the program is ended.
      const timer = asked < this.#clock.leftMs ? setTimeout(go, asked) : undefined;
      this.#pauses.add(go);
    });
    return valueAnswer(null);
  }

  get #session(): SessionState {
    return wholeSession(this.#parts.call.session);
  }

  async #find(query: string): Promise<CodeAnswer> {
    const session = this.#session;
    if (!canFind(session))
      return refusal('tool_not_found', 'no_search', 'This registry cannot search for tools.');
    try {
      return valueAnswer(findDeclarations(session, query));
    } catch (error) {
      return refusal('invalid_input', 'query', ownMessage(error) ?? 'The query is wrong.');
    }
  }

  async #call(request: CodeRequest, position: number): Promise<CodeAnswer> {
    const { settings, journal } = this.#parts;
    const { maxCalls, maxParallel } = settings;
    // The sandbox counts too, and its count is not trusted.
    if (++this.#calls > maxCalls)
      return refusal('rate_limited', 'max_calls', `A program may make ${maxCalls} calls.`);
    while (this.#running >= maxParallel && this.#ended === undefined)
      await new Promise<void>((resolve) => this.#queue.push(resolve));
    if (this.#ended !== undefined) return programEnded;
    this.#running++;
    try {
      const claimed = await journal?.begins(request, position, this.#session);
      if (claimed === false) this.#stop('lost');
      if (this.#ended !== undefined) return programEnded;
      const result = await this.#start(request, position);
      if (!result.success && result.error.code === 'approval_pending') {
        const question = result.approval as PendingApproval;
        this.questions.push(question);
        await journal?.waits(request, position, question);
        return 'waiting';
      }
      return answerOf(result);
    } finally {
      this.#running--;
      this.#queue.shift()?.();
    }
  }

  #start(request: CodeRequest, position: number): Promise<ToolResult> {
    const { name, input, line } = request;
    const { call, source, seed, journal } = this.#parts;
    const { session, surface } = call;
    const callId = this.#idAt(position);
    this.#places.set(callId, { source, line });
    // Until it ends: the program may end before it.
    this.#note(request, position, 'cancelled');
    const isRepeatable = journal !== undefined || call.options?.idempotencyKey !== undefined;
    const options: ReadCallOptions = {
      callId: undefined,
      signal: undefined,
      timeoutMs: undefined,
      idempotencyKey: isRepeatable ? `${seed}/${position}` : undefined,
      resourceKey: undefined,
      surface: {
        name: 'code',
        outside: surface?.outside,
        approver: surface?.approver,
        client: surface?.client,
        scopes: surface?.scopes,
        exposeErrors: surface?.exposeErrors,
      },
      fault: undefined,
    };
    for (const hear of session.registry.ports.calls.children) hear(call);
    const value = JSON.parse(input) as JsonValue;
    return callTool(session, name, value, options, call, undefined, callId);
  }
}

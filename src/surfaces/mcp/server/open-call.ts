/**
 * A call of the 2026 era. It can ask its client while it runs, and outlive the request that it came
 * with: while it waits for answers, or as a task.
 */
import type { JsonObject, ToolResult } from '../../../core.ts';
import { isJsonObject, type JsonValue } from '../../../values/json/index.ts';
import { inNextTurn } from '../../../values/limits/stretches.ts';
import type { CallContext } from './asking.ts';
import { expectedOf, type Question } from './form-answers.ts';

interface Asked {
  readonly question: Question;
  give(response: JsonObject): void;
  fail(error: Error): void;
}

/** Most questions of one call, and most characters of one. */
const maxQuestions = 100;
const maxChars = 100_000;

/** A call that runs, and what it asks. One party at a time waits for what happens. */
export class OpenCall {
  readonly #ending = new AbortController();
  readonly #asked = new Map<string, Asked>();
  readonly #used = new Set<string>();
  #early: unknown;
  #ctx: CallContext | undefined;
  #detach = (): void => {};
  #listener: (() => void) | undefined;
  #missed = false;

  result: ToolResult | undefined;
  /** What went wrong in our own code, so that there is no result. */
  fault: { readonly error: unknown } | undefined;
  /** The handler has begun. */
  isStarted = false;

  /** @param early Answers that came with the request, before anything was asked. */
  constructor(early: unknown) {
    this.#early = early;
  }

  /** Aborts when the call has to end. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** The request that waits for the call; undefined while none does. */
  get ctx(): CallContext | undefined {
    return this.#ctx;
  }

  get isOver(): boolean {
    return this.result !== undefined || this.fault !== undefined;
  }

  /** Runs the call, or what follows it. Its result takes the place of an earlier one. */
  run(start: () => Promise<ToolResult>): void {
    this.result = undefined;
    // What is thrown at once must not leave the call open either.
    new Promise<ToolResult>((resolve) => resolve(start())).then(
      (result) => {
        this.result = result;
        this.notify();
      },
      (error: unknown) => {
        this.fault = { error };
        this.notify();
      },
    );
  }

  started(): void {
    this.isStarted = true;
    this.notify();
  }

  /** From now on, a request waits for the call, which ends when its client goes away. */
  attach(ctx: CallContext): void {
    this.detach();
    const { signal } = ctx.mcpReq;
    const abort = (): void => this.end(signal.reason);
    this.#ctx = ctx;
    this.#detach = () => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  }

  detach(): void {
    this.#detach();
    this.#ctx = undefined;
  }

  /** Ends the call. */
  end(reason?: unknown): void {
    this.#ending.abort(reason);
    this.refuse('The call has ended.');
  }

  /** What has no answer yet, by key. */
  questions(): Readonly<Record<string, Question>> {
    return Object.fromEntries([...this.#asked].map(([key, { question }]) => [key, question]));
  }

  /**
   * Asks the client. Questions of one turn are asked together.
   * @param name What the answer is called. A name that was used gets a number.
   */
  ask(method: string, params: JsonObject, name = 'question'): Promise<JsonObject> {
    return new Promise((give, fail) => {
      if (this.signal.aborted || this.isOver) throw new Error('The call has ended.');
      if (this.#used.size >= maxQuestions)
        throw new Error(`A call may ask its client at most ${maxQuestions} times.`);
      if (JSON.stringify(params).length > maxChars)
        throw new Error(`A question may have at most ${maxChars} characters.`);
      const key = this.#used.has(name) ? `${name}-${this.#used.size + 1}` : name;
      this.#used.add(key);
      const question = { method, params };
      const early = responseFor(this.#early, key, question);
      if (early !== undefined) return give(early);
      this.#asked.set(key, { question, give, fail });
      inNextTurn(() => this.notify());
    });
  }

  /** Takes the answers of the right form. Others change nothing, and their questions stay. */
  answer(responses: unknown): void {
    for (const [key, { question, give }] of this.#asked) {
      const response = responseFor(responses, key, question);
      if (response === undefined) continue;
      this.#asked.delete(key);
      give(response);
    }
  }

  /** No question will be answered. */
  refuse(why: string): void {
    for (const { fail } of this.#asked.values()) fail(new Error(why));
    this.#asked.clear();
  }

  /** Something has happened: the call began, has ended or asks. */
  notify(): void {
    if (this.#listener === undefined) this.#missed = true;
    else this.#listener();
  }

  /** Tells one listener, in place of the last one, what happens and what it has missed. */
  listen(listener: (() => void) | undefined): void {
    this.#listener = listener;
    if (listener === undefined || !this.#missed) return;
    this.#missed = false;
    listener();
  }

  /** Resolves once something has happened. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.listen(() => {
        this.#listener = undefined;
        resolve();
      });
    });
  }
}

/** The answer to a question; undefined if there is none of the right form. */
function responseFor(responses: unknown, key: string, question: Question): JsonObject | undefined {
  if (!isJsonObject(responses as JsonValue) || !Object.hasOwn(responses as object, key))
    return undefined;
  const response = (responses as JsonObject)[key];
  return expectedOf(question, response) === undefined ? (response as JsonObject) : undefined;
}

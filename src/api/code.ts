/** Code mode: programs that a model writes, whose calls pass the gates of their session. */

/** The option `code` of a session: it shows its model one tool, which runs programs. */
export interface CodeOptions {
  /** The name of the tool, 1 to 64 characters. @default "run_code" */
  readonly name?: string | undefined;
  /**
   * What the model is shown: the tool in place of those that its programs may call, or the tool
   * beside them.
   * @default "code"
   */
  readonly show?: 'code' | 'both' | undefined;
  /**
   * Milliseconds that a program may take with its calls, above 0, at most 2^31-1. Time in which a
   * person is asked does not count, nor does the start of the program.
   * @default 30_000
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Milliseconds that a program may compute by itself, above 0, at most 2^31-1.
   * @default 5_000
   */
  readonly cpuMs?: number | undefined;
  /** The most memory of a program in megabytes, 16 to 1 024. @default 64 */
  readonly memoryMb?: number | undefined;
  /** How many calls a program may make, 1 to 10 000. @default 100 */
  readonly maxCalls?: number | undefined;
  /** How many of them run at once, 1 to 100. Others wait. @default 8 */
  readonly maxParallel?: number | undefined;
  /** The longest program in characters, 1 to 1 000 000. @default 65_536 */
  readonly maxSourceChars?: number | undefined;
  /**
   * The most tokens of the declarations in the description of the tool, from 100, at four
   * characters a token.
   * @default 8_000
   */
  readonly maxDeclarationTokens?: number | undefined;
  /**
   * Milliseconds for which a store keeps what a program has called, from 60 000: as long as people
   * may take to answer its questions.
   * @default 86_400_000
   */
  readonly journalTtlMs?: number | undefined;
}

/** What a runner is given: one program, and the world that it sees. */
export interface CodeProgram {
  /**
   * JavaScript, the body of an async function: `await` and `return` are allowed, `import` is not.
   */
  readonly source: string;
  /** The same seed gives the same `Math.random()`. */
  readonly seed: string;
  /** Epoch milliseconds that the program's clock shows, however long it runs. */
  readonly now: number;
  /** What ends the program. */
  readonly limits: CodeLimits;
  /** Ends the program at once when it aborts. */
  readonly signal: AbortSignal;
  /** The program has been started, and computes from now on. Called at most once. */
  begun(): void;
  /**
   * A line that the program has logged. The first 8 000 characters of all lines are kept, counting
   * one for the end of each.
   */
  log(line: string): void;
  /**
   * What the program asks for. The promise never rejects. It is not asked any more once the program
   * has ended.
   */
  ask(request: CodeRequest): Promise<CodeAnswer>;
}

/** The limits that a runner enforces. */
export interface CodeLimits {
  /** Milliseconds of computing. */
  readonly cpuMs: number;
  /** Megabytes. */
  readonly memoryMb: number;
  /** Calls. One beyond it rejects with `rate_limited`. */
  readonly maxCalls: number;
}

/** A call of a tool, a pause, or a search for tools. */
export interface CodeRequest {
  /** Which of the three it is. */
  readonly kind: 'call' | 'sleep' | 'find';
  /** The name of the tool; the text of a search. */
  readonly name: string;
  /** JSON. For a pause, its milliseconds. */
  readonly input: string;
  /** The line of the source, from 1; 0 if it is not known. */
  readonly line: number;
}

/**
 * What the program gets: a value as JSON, or an error that rejects its promise. `waiting` if there
 * is no answer yet: the program runs on, and ends as `waiting` once nothing more of it can run.
 */
export type CodeAnswer =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly error: CodeError }
  | 'waiting';

/** An error, as a program sees it. */
export interface CodeError {
  /** The code of the call's error. */
  readonly code: string;
  /** A stable reason below the code. */
  readonly reason?: string | undefined;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** What was wrong, as the model would have read it. */
  readonly message: string;
}

/** How a program has ended. */
export type CodeOutcome =
  /** It has returned a value: JSON, `null` for nothing. */
  { readonly ok: true; readonly value: string } | { readonly ok: false; readonly fault: CodeFault };

/** Why a program has not returned a value. */
export interface CodeFault {
  /**
   * - `syntax`: it cannot be read, so nothing of it ran; or it has called `import()`
   * - `thrown`: it threw, or rejected
   * - `value`: what it returned is no JSON, or is too long
   * - `cpu`, `memory`, `stack`, `flood`: it was over that limit
   * - `stopped`: its signal has aborted
   * - `waiting`: nothing of it can run before it has the answers that it does not have yet
   * - `busy`: the runner has no room, and nothing of it ran
   * - `lost`: the runner itself ended
   */
  readonly kind:
    | 'syntax'
    | 'thrown'
    | 'value'
    | 'cpu'
    | 'memory'
    | 'stack'
    | 'flood'
    | 'stopped'
    | 'waiting'
    | 'busy'
    | 'lost';
  /** Of the error, such as `TypeError: x is not a function`. */
  readonly message: string;
  /** The line of the source, from 1; undefined if it is not known. */
  readonly line?: number | undefined;
}

/**
 * Runs programs that nobody has reviewed, each in a sandbox of its own: without files, network,
 * modules, timers, `eval` or objects of the host. `codeRunnerConformance` of `host-tools/testing`
 * checks a runner.
 *
 * In the program, `tools` is an object whose members are functions: `tools.name(input)` asks for a
 * call, `tools.sleep(ms)` for a pause, `tools.find(text)` for a search. Each returns a promise.
 */
export interface CodeRunner {
  /**
   * Runs a program. It must not block the thread of its caller. Whatever a program does, it
   * resolves; it rejects with a MisuseError `missing_dependency` if a package is missing.
   */
  run(program: CodeProgram): Promise<CodeOutcome>;
}

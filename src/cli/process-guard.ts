/**
 * The process while a command runs code that is not ours: it ends when the command says so, with
 * the command's exit code, and stray errors are lines.
 */
import { placesOf, placeText } from '../config/thrown-place.ts';
import { shownPath } from './shown-path.ts';
import { textOf } from './validate/validate-foreign-code.ts';
import { isValidating } from './validate/validate-process-guard.ts';

/** Watches the process until it ends. */
export interface RunGuard {
  /** Whether anything was told. */
  readonly told: boolean;
  /** Waits until rejections of the last turns have come out. */
  settled(): Promise<void>;
  /** Ends the process with this code, whatever listeners of its end do. */
  leave(code: number): never;
}

type Exit = (code?: number | string | null) => never;
/** What `process.exit` ends in. Not documented, but known to be called and replaced. */
type Ending = Omit<NodeJS.Process, 'exit'> & { exit: Exit; reallyExit: Exit };

/** Most lines that are told: a timer may throw for ever. */
const mostTold = 10;

/**
 * Begins to watch. `process.exit` by anybody else is told and answered by a throw; rejections that
 * nobody handles and exceptions that nobody catches are told, unless `validate` is watching, which
 * has them in its report. A process that ends without {@link RunGuard.leave} ends with 1.
 * @param tell shows one line
 */
export function guardRun(host: NodeJS.Process, tell: (line: string) => void): RunGuard {
  const process = host as unknown as Ending;
  const exit: Exit = process.exit.bind(host);
  const reallyExit: Exit = process.reallyExit.bind(host);
  // Ours, when it comes out again as an exception that nobody catches.
  const answers = new WeakSet<object>();
  let count = 0;
  const fault = (line: string): void => {
    count++;
    if (count <= mostTold) tell(line);
    else if (count === mostTold + 1) tell('More of these are not shown.');
  };
  const refuse =
    (name: string): Exit =>
    (code) => {
      const place = placeOf(new Error(), host.cwd(), 1);
      const answer = new Error(`${name} was called`);
      answers.add(answer);
      fault(
        `${name}(${code === undefined ? '' : textOf(code)}) was ` +
          `called${place === undefined ? '' : ` at ${place}`}; only the command itself ends its ` +
          'process.',
      );
      throw answer;
    };
  const stray = (what: string) => (thrown: unknown) => {
    if (isValidating() || (typeof thrown === 'object' && thrown !== null && answers.has(thrown)))
      return;
    const place = placeOf(thrown, host.cwd(), 0);
    fault(`${what}: ${textOf(thrown)}${place === undefined ? '' : ` (${place})`}`);
  };
  const unanswered = (): void => {
    tell('The command ended without an answer.');
    reallyExit(1);
  };
  process.exit = refuse('process.exit');
  process.reallyExit = refuse('process.reallyExit');
  // Should listeners of the end be taken away.
  host.exitCode = 1;
  host.on('exit', unanswered);
  host.on('unhandledRejection', stray('A promise was rejected and nobody handled it'));
  host.on('uncaughtException', stray('An exception was thrown and nobody caught it'));
  return {
    get told() {
      return count > 0;
    },
    async settled() {
      // Rejections come out after the microtasks of a turn; what they cause, a turn later.
      for (let turn = 0; turn < 3; turn++)
        await new Promise<void>((resolve) => void setImmediate(resolve));
    },
    leave(code) {
      host.off('exit', unanswered);
      const end: Exit = () => reallyExit(code);
      [process.exit, process.reallyExit] = [end, end];
      try {
        exit(code);
      } finally {
        // A listener of the end has thrown.
        reallyExit(code);
      }
    },
  };
}

/** The first place of a stack, after those that are skipped. */
function placeOf(thrown: unknown, cwd: string, skip: number): string | undefined {
  const place = placesOf(thrown)[skip];
  return place === undefined
    ? undefined
    : placeText({ ...place, path: shownPath(place.path, cwd) });
}

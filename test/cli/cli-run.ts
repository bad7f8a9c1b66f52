/** Runs the command line inside the test, with streams that keep what is written. */
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { CliOutput } from '../../src/cli/cli-io.ts';
import { runCli } from '../../src/cli/run-cli.ts';

export const worlds = fileURLToPath(new URL('./worlds/', import.meta.url));
export const root = fileURLToPath(new URL('../../', import.meta.url));
/** Loads the tools of the tests. */
export const tools = ['--host-tools-module', './tools.ts'];
/** Loads them with rules and profiles. */
export const gated = [...tools, '--host-tools', 'gates.yaml'];

/** What a run is given; streams are no terminals unless it says so. */
export interface RunSetup {
  readonly stdin?: string;
  readonly terminal?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Typed before the command has begun; standard input stays open. */
  readonly typed?: string;
  readonly cwd?: string;
  readonly signal?: AbortSignal;
  /** Called after each write to standard error, with all of it so far. */
  readonly onStderr?: (text: string, type: (line: string) => void) => void;
  /** Called after each write to standard output, with all of it so far. */
  readonly onStdout?: (text: string) => void;
}

export interface Ran {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Each write to standard error by itself. */
  readonly writes: readonly string[];
}

export async function cli(
  argv: readonly string[],
  {
    stdin,
    typed,
    terminal = false,
    env = {},
    cwd = worlds,
    signal,
    onStderr,
    onStdout,
  }: RunSetup = {},
): Promise<Ran> {
  const input = Object.assign(new PassThrough(), { isTTY: terminal });
  if (stdin !== undefined) input.end(stdin);
  if (typed !== undefined) input.write(typed);
  const out = memory(false, onStdout);
  const written = new EventEmitter();
  const err = memory(terminal, (text) => written.emit('text', text));
  if (onStderr !== undefined)
    written.on('text', (text: string) => onStderr(text, (line) => input.write(line)));
  const exit = await runCli(argv, {
    stdin: input,
    stdout: out,
    stderr: err,
    cwd,
    env,
    signal: signal ?? new AbortController().signal,
  });
  return { exit, stdout: out.writes.join(''), stderr: err.writes.join(''), writes: err.writes };
}

function memory(
  isTTY: boolean,
  told: (text: string) => void = () => {},
): CliOutput & { writes: string[] } {
  const writes: string[] = [];
  return {
    isTTY,
    columns: 80,
    writes,
    write(text, done) {
      writes.push(text);
      queueMicrotask(() => {
        done?.();
        told(writes.join(''));
      });
    },
  };
}

/** What a terminal would obey: anything but printable text and line breaks. */
export function controlsIn(text: string): string[] {
  return text.match(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu) ?? [];
}

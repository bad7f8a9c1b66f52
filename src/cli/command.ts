/** What a command is. */
import type { CliIo } from './cli-io.ts';
import type { OptionName } from './option-table.ts';
import type { Options } from './options.ts';
import type { Screen } from './screen.ts';
import type { World } from './world.ts';

/** What a command prints and how it ends. */
export interface Answer {
  /** 0: done. 1: the call or the check failed. */
  readonly exit: 0 | 1;
  /** For people: lines without a final break, each of them printable. */
  readonly text: string;
  /** For `--json`: one JSON document. */
  readonly json: unknown;
  /** Nothing is printed: standard output had its answers while the command ran. @default false */
  readonly silent?: boolean;
}

/** What a command is given. */
export interface CommandContext {
  readonly io: CliIo;
  readonly screen: Screen;
  readonly options: Options;
  /** The words after the command's name, as many as it takes. */
  readonly operands: readonly string[];
  /** Loads the files and modules of the command line, once. @throws CliFault. */
  world(): Promise<World>;
}

/** A row of the table of commands. */
export interface Command {
  /** One word or two: `profiles diff`. */
  readonly name: string;
  /** What follows the name: `NAME [--input JSON|@FILE|-]`. */
  readonly usage: string;
  /** What it does, in one line. */
  readonly summary: string;
  /** Further lines of its help. */
  readonly notes: readonly string[];
  /** The options that it takes, beside `--verbose`, `--json`, `--help` and `--version`. */
  readonly options: readonly OptionName[];
  /** Names of the words that it takes; one that may be left out is in brackets: `[DIR]`. */
  readonly operands: readonly string[];
  /** The last word may be given several times. @default false */
  readonly many?: boolean;
  /** Runs it. @throws CliFault. */
  run(context: CommandContext): Promise<Answer>;
}

/** The options by which a command is told what to load and who asks. */
export const worldOptions = [
  'host-tools',
  'host-tools-module',
  'profile',
  'facts',
] as const satisfies readonly OptionName[];

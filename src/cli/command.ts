/** The parts of a command. */

import type { OptionalPackage } from '../values/packages/install-line.ts';
import type { CliIo } from './cli-io.ts';
import type { OptionName, OptionRow } from './option-table.ts';
import type { Options } from './options.ts';
import type { Screen } from './screen.ts';
import type { RunStore } from './store/kept-store.ts';
import type { World } from './world.ts';

/** What a command prints, and its exit code. */
export interface Answer {
  /** 0 if it is done, 1 if the call or the check failed. `guard` has that of its own command. */
  readonly exit: number;
  /** Lines for people, each of them printable, without a line break at the end. */
  readonly text: string;
  /** For `--json`: one JSON document. */
  readonly json: unknown;
  /** Prints nothing, because the command has already written its output. @default false */
  readonly silent?: boolean;
}

/** What a command gets. */
export interface CommandContext {
  readonly io: CliIo;
  readonly screen: Screen;
  readonly options: Options;
  /** The words after the command's name. */
  readonly operands: readonly string[];
  /** What the run keeps, and where; undefined if it has no store. */
  readonly store: RunStore | undefined;
  /** Loads the files and modules of the command line, once. @throws CliFault. */
  world(): Promise<World>;
}

/** One command. */
export interface Command {
  /** One or two words, such as `profiles diff`. */
  readonly name: string;
  /** What follows the name, such as `NAME [--input JSON|@FILE|-]`. */
  readonly usage: string;
  /** What it does, in one line. */
  readonly summary: string;
  /** Further lines of its help. */
  readonly notes: readonly string[];
  /** The options that it takes, besides `--verbose`, `--json`, `--help` and `--version`. */
  readonly options: readonly OptionName[];
  /** How its help describes options that have another meaning in other commands. */
  readonly wording?: Partial<Readonly<Record<OptionName, OptionRow>>>;
  /** Names of the words that it takes. An optional one is in brackets: `[DIR]`. */
  readonly operands: readonly string[];
  /** The file that it writes without an option. @default none */
  readonly writes?: string;
  /**
   * The optional packages that it needs. That of the MCP client is added if a file names servers.
   * @default none
   */
  packages?(options: Options): readonly OptionalPackage[];
  /** Whether the last word may be repeated. @default false */
  readonly many?: boolean;
  /** Whether the first word is a file to load, as with `--host-tools`. @default false */
  readonly loadsWord?: true;
  /**
   * How it uses MCP servers and the audit log that files name.
   * @default starts servers and waits
   */
  readonly gateway?: { readonly records?: true; readonly serves?: true };
  /** The decision where no rule makes one. @default that of a registry */
  readonly fallback?: 'ask';
  /** Whether models, or people as models, run programs in its sessions. @default false */
  readonly runsPrograms?: true;
  /** Whether it keeps data in the store of `--store`, or of its files. @default false */
  readonly keeps?: true;
  /** Runs it. @throws CliFault. */
  run(context: CommandContext): Promise<Answer>;
}

/** The options that say what to load, and for which session. */
export const worldOptions = [
  'host-tools',
  'host-tools-module',
  'profile',
  'facts',
] as const satisfies readonly OptionName[];

/** What the test of the printed commands knows about each of them. */
import type { Place } from './stage.ts';

/** What a command needs that is not in an empty folder, and what it must do. */
export interface Row {
  /** Written before it runs, beside the files of its page. */
  readonly files?: Readonly<Record<string, string>>;
  /** Runs before it. */
  readonly before?: (place: Place) => void | Promise<void>;
  /** What stands for texts that cannot be run as they are printed. */
  readonly instead?: Readonly<Record<string, string>>;
  /** @default 0 */
  readonly exit?: number;
  /** What it says, on either output. @default anything */
  readonly says?: RegExp;
  /** What it says when it is ready, if it goes on until it is ended. */
  readonly until?: RegExp;
  /** What it reads. */
  readonly input?: string;
}

export interface PageRows {
  /** Whether the commands of the page go on with the folder of those before. @default false */
  readonly isOneWalk?: boolean;
  /** Files that a reader of the page has, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** By the command as it is printed. A text says why it is not run. */
  readonly commands: Readonly<Record<string, Row | string>>;
}

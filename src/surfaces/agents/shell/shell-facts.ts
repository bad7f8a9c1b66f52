/** What rules can read of a shell's command line. */

/** One program that a command line starts, as far as it is clear. */
export interface ShellCommand {
  /** The program's name, without its folder: `git`. */
  readonly program: string;
  /**
   * Program and arguments without quotes, joined by spaces. Options of `git` itself, such as
   * `-C folder`, are left out, so that `git push` begins with `git push`.
   */
  readonly text: string;
}

/** The answer to `command@…` in a rule. */
export interface ShellFacts {
  /**
   * Whether some effect of the line is unclear: code in a string or another file, a program or an
   * argument that is known only at run time, or syntax that was not understood.
   */
  readonly unclear: boolean;
  /** Why it is unclear, in words. */
  readonly why: readonly string[];
  /** Every program, including those in `$()`, functions, `sudo`, `bash -c` and the like. */
  readonly commands: readonly ShellCommand[];
  /** Every absolute path that one of the words may mean. */
  readonly paths: readonly string[];
  /** Words that name a path outside of the project. */
  readonly outside: readonly string[];
  /** Files outside of the project to which the line redirects output, with `>` and the like. */
  readonly writesOutside: readonly string[];
  /** Hosts of the web addresses in it. */
  readonly hosts: readonly string[];
}

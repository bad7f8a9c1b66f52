/** The exit codes of a command. */

/** Exit codes with their meanings. `docs/command-line.md` and the help have the same table. */
export const exitCodes = {
  0: 'done',
  1: 'the call or the check failed, or something that it needs cannot be read, loaded or reached',
  2: 'the command line was wrong',
  130: 'interrupted twice, or while a tool or a module blocked the process: nothing was waited for',
} as const;

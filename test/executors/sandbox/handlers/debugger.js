/** Handlers that open a debugger, or look whether theirs is open. */

/** Asks a process to open its debugger, again and again. */
export const asksForDebugger = async ({ pid = process.ppid }) => {
  for (let times = 0; times < 20; times++) {
    process.kill(pid, 'SIGUSR1');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return 'asked';
};
/** Says whether its debugger is open, some time after it has told its process id. */
export const debuggerOf = async (_, { emit }) => {
  emit('pid', process.pid);
  const { url } = await import('node:inspector');
  for (let times = 0; times < 60 && url() === undefined; times++)
    await new Promise((resolve) => setTimeout(resolve, 25));
  return url() ?? 'closed';
};

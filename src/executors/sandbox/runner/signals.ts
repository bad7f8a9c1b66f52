/** Signals in a process that may be in the same process group as its host. */

/**
 * Signals that a terminal or a supervisor sends to a whole group in order to end the host, and the
 * one with which another sandbox could open the debugger of this process.
 */
const ignored = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1'] as const;

/**
 * Ignores these signals, so that the host decides when this process ends. After Ctrl-C, for
 * example, it may let the call finish. It also keeps a handler from sending a signal to the
 * host's group by accident.
 */
export function leaveSignalsToHost(): void {
  for (const signal of ignored) process.on(signal, () => {});
  // Zero means the group of this process. It is the host's group, unless the handler may start
  // processes.
  if (mayStartProcesses()) return;
  const send = process.kill.bind(process);
  process.kill = (pid, signal) => send(isZero(pid) ? process.pid : pid, signal);
}

/** Reads a process id as Node does. An empty string, as from an empty file, is zero too. */
function isZero(pid: unknown): boolean {
  return pid !== null && Number(pid) === 0;
}

function mayStartProcesses(): boolean {
  const { permission } = process as { permission?: { has(scope: string): boolean } };
  return permission === undefined || permission.has('child');
}

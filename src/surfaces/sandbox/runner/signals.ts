/** Signals in a process that may share the group of its host. */

/** What a terminal or a supervisor sends to a whole group, to end the host. */
const forTheHost = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const;

/**
 * Leaves the end of this process to the host, which may let the call finish after Ctrl-C. It also
 * keeps a handler from signalling the host's group by accident.
 */
export function leaveSignalsToHost(): void {
  for (const signal of forTheHost) process.on(signal, () => {});
  // Zero stands for the own group. A handler that may start processes is in a group of its own.
  if (mayStartProcesses()) return;
  const send = process.kill.bind(process);
  process.kill = (pid, signal) => send(isZero(pid) ? process.pid : pid, signal);
}

/** As Node reads it: for it, an empty string is zero too, as it comes from an empty file. */
function isZero(pid: unknown): boolean {
  return pid !== null && Number(pid) === 0;
}

function mayStartProcesses(): boolean {
  const { permission } = process as { permission?: { has(scope: string): boolean } };
  return permission === undefined || permission.has('child');
}

import { readFileSync } from 'node:fs';

/**
 * Milliseconds of a core that this thread has used, in steps of ten: what other threads and
 * programs do does not count. Elsewhere than on Linux, what the process has used.
 */
export function cpuMs(): number {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
  // The fields after the name, which may hold blanks: state first, user time and system time as the
  // 12th and 13th, in hundredths of a second.
  const fields =
    readFileSync('/proc/thread-self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Keeps this process, and those that it starts from then on, on one core. */
import { spawnSync } from 'node:child_process';

/**
 * Does something on one core. Undefined if that cannot be had here: the program is Linux's own, and
 * Node has no means of it.
 */
export async function onOneCore<T>(work: () => Promise<T>): Promise<T | undefined> {
  const before = /: ([\d,-]+)\s*$/.exec(taskset('-cp', String(process.pid)) ?? '')?.[1];
  const [one] = before?.match(/\d+/) ?? [];
  if (before === undefined || one === undefined) return undefined;
  if (taskset('-acp', one, String(process.pid)) === undefined) return undefined;
  try {
    return await work();
  } finally {
    taskset('-acp', before, String(process.pid));
  }
}

/** What the program prints. */
function taskset(...given: string[]): string | undefined {
  const { status, stdout } = spawnSync('taskset', given, { encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}

/** Reads an event from standard input, and judges it. */
import type { Readable } from 'node:stream';
import type { HookEnd } from './hook-run.ts';
import type { HookTask } from './hook-task.ts';

/** Largest event, in bytes. */
const maxBytes = 16_000_000;

/**
 * Judges the event. Never rejects.
 * @param arrived Called with the length of the event, before it is judged.
 * @param block Called if there is no event that could be judged. The promise then never settles.
 */
export async function judgeEvent(
  stdin: Readable,
  task: HookTask,
  block: (why: string) => void,
  arrived: (bytes: number) => void = () => {},
): Promise<HookEnd> {
  // Loaded while the event arrives.
  const loading = import('./hook-run.ts');
  const text = await readEvent(stdin, block);
  arrived(text.length);
  const { runHook } = await loading;
  return runHook({ ...task, stdin: text, now: Date.now });
}

/** Never settles if the event cannot be read. */
function readEvent(stdin: Readable, block: (why: string) => void): Promise<string> {
  return new Promise((resolve) => {
    let bytes = 0;
    const chunks: Buffer[] = [];
    stdin.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) return void chunks.push(chunk);
      stdin.destroy();
      block(`The event has more than ${maxBytes} bytes.`);
    });
    stdin.on('error', () => block('The event could not be read.'));
    stdin.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}

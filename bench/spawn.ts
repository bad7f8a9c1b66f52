/** Runs families, each in its own process. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { outputFolder } from './build.ts';
import type { FamilyResult } from './targets.ts';

const benchFolder = fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, '');

/** Every family of an ordinary run, in the order of the table. */
export const familyNames = [
  'calls',
  'bytes',
  'rules',
  'audit',
  'stores',
  'otel',
  'idle',
  'peer-openai-agents',
  'peer-mcp',
  'peer-langchain',
  'peer-mastra',
  'registration',
  'listing',
  'peer-lists',
  'sessions',
  'origins',
  'concurrency',
  'mcp-http',
  'gateway',
  'fleet',
  'sandboxes',
  'code',
  'import',
  'hook',
  'leak',
] as const;

/**
 * A young generation that is never collected during a sample, where bytes are counted by the heap's
 * growth.
 */
const flagsOf: Record<string, readonly string[]> = {
  bytes: ['--min-semi-space-size=256', '--max-semi-space-size=256'],
};

/** What takes longer hangs. */
const maxMs = 30 * 60_000;

export function runFamily(name: string, folder = outputFolder): Promise<FamilyResult> {
  return new Promise((resolve, reject) => {
    const child = fork(`${folder}worker.js`, [name, benchFolder], {
      execArgv: ['--expose-gc', ...(flagsOf[name] ?? [])],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      timeout: maxMs,
    });
    let result: FamilyResult | undefined;
    child.on('message', (message) => {
      result = message as FamilyResult;
    });
    child.on('error', reject);
    child.on('exit', (code, signal) =>
      result === undefined
        ? reject(new Error(`The benchmark \`${name}\` ended with ${code ?? signal} and no result.`))
        : resolve(result),
    );
  });
}

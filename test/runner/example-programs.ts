/** The examples as processes of their own, compiled before they start. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { bundle } from './bundle.ts';

// Below the root, where the packages of the examples are found; `programs.ts` clears what was left.
const cache = fileURLToPath(new URL('../../.cache/test-programs/', import.meta.url));

/**
 * The path of the script that an example, named from the root of the repository, became. It is
 * there until the test ends.
 */
export async function exampleProgram(entry: `examples/${string}.ts`): Promise<string> {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'example-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  await bundle([entry], folder);
  return join(folder, entry.replace(/\.ts$/, '.js'));
}

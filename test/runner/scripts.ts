/** Sources that one test starts as a process: an example, or a text. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { bundle } from './bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
// Below the root, where their packages are found; `programs.ts` clears what was left.
const cache = join(root, '.cache/test-programs');

/**
 * The path of the script that an example, named from the root of the repository, became. It is
 * there until the test ends.
 */
export async function exampleScript(entry: `examples/${string}.ts`): Promise<string> {
  const folder = madeFolder();
  await bundle([entry], folder);
  return join(folder, entry.replace(/\.ts$/, '.js'));
}

/** The same for a text, which imports from `src` as a file in the root would. */
export async function textScript(text: string): Promise<string> {
  const folder = madeFolder();
  const source = join(folder, 'source.ts');
  writeFileSync(source, text.replaceAll("from './src/", `from '${root}src/`));
  await bundle([source], folder);
  return join(folder, relative(root, folder), 'source.js');
}

function madeFolder(): string {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'script-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  return folder;
}

/** The container recipe of the relay, parsed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const recipe = fileURLToPath(new URL('../../examples/relay-container/', import.meta.url));

/** One instruction: its name in capitals, its flags such as `--from=packages`, and the rest. */
export interface Instruction {
  readonly name: string;
  readonly flags: readonly string[];
  readonly rest: string;
}

/** The instructions of the Dockerfile, in order. */
export function instructions(): readonly Instruction[] {
  return readFileSync(join(recipe, 'Dockerfile'), 'utf8')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', ...words] = line.split(/\s+/);
      const flags = words.slice(
        0,
        words.findIndex((word) => !word.startsWith('--')),
      );
      const rest = line.slice(name.length).trim();
      return {
        name: name.toUpperCase(),
        flags,
        rest: flags.reduce((text, flag) => text.slice(flag.length).trimStart(), rest),
      };
    });
}

/** The words of the last instruction of a name, which must be in the form without a shell. */
export function wordsOf(name: string): readonly string[] {
  const { rest = '' } = instructions().findLast((one) => one.name === name) ?? {};
  return JSON.parse(rest.replace(/^CMD /, '')) as string[];
}

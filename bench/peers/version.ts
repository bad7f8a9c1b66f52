/** Which version of a peer was measured. */
import { readFile } from 'node:fs/promises';
import { benchFolder } from '../place.ts';

/** From the lock beside us: packages need not export their package.json. */
export async function versionOf(name: string): Promise<string> {
  const { packages } = JSON.parse(
    await readFile(new URL('package-lock.json', benchFolder), 'utf8'),
  ) as { packages: Record<string, { version?: string }> };
  return `${name} ${packages[`node_modules/${name}`]?.version ?? ''}`.trim();
}

/** The version of this package. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** The package finds its own manifest by its name: built files and sources lie at different depths. */
export async function packageVersion(): Promise<string> {
  const manifest = 'host-tools/package.json';
  const path = createRequire(import.meta.url).resolve(manifest);
  return (JSON.parse(await readFile(path, 'utf8')) as { version: string }).version;
}

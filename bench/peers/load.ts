/** Peers are optional: the library's own rows need none of them. */
import { benchFolder } from '../place.ts';

interface Importer {
  importPeer(name: string): Promise<unknown>;
}

/** Loads a package, or says that it is not installed. */
export async function load<T>(name: string): Promise<T | undefined> {
  try {
    const { importPeer } = (await import(
      new URL('peers/import-peer.mjs', benchFolder).href
    )) as Importer;
    return (await importPeer(name)) as T;
  } catch (error) {
    if (
      (error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND' &&
      String(error).includes(`'${packageOf(name)}'`)
    )
      return undefined;
    throw error;
  }
}

/** The package that a subpath is of. */
function packageOf(name: string): string {
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/');
}

export function missing(...names: string[]): {
  readonly rows: readonly never[];
  readonly skipped: string;
} {
  return { rows: [], skipped: `${names.join(', ')}: not installed (\`npm ci --prefix bench\`)` };
}

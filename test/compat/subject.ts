/** The package that is tried: packed, and installed in a project of its own. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npm } from './exec.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));
/** The folder with the tools of this test. */
export const tools = fileURLToPath(new URL('.', import.meta.url));

export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};

/** What can be imported, as a host writes it. */
export const specifiers: readonly string[] = Object.keys(manifest.exports)
  .filter((subpath) => !subpath.endsWith('.json'))
  .map((subpath) => manifest.name + subpath.slice(1));

/** What the checks share. */
export interface Subject {
  /** A temporary folder; each check makes its own folder in it. */
  readonly work: string;
  /** Path of the packed package. */
  readonly tarball: string;
  /** A project that has the package installed, without any of its optional peers. */
  readonly project: string;
}

/** Packs what is in `dist` and installs it. */
export async function prepare(work: string): Promise<Subject> {
  const [archive] = JSON.parse(
    await npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', work),
  ) as { filename: string }[];
  const tarball = join(work, (archive as { filename: string }).filename);
  const project = join(work, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
  await npm(project, 'install', '--ignore-scripts', '--prefer-offline', tarball);
  return { work, tarball, project };
}

/** Makes a folder for one check. */
export function folder({ work }: Subject, name: string): string {
  const made = join(work, name.replaceAll(/[^\w./-]/g, '-'));
  mkdirSync(made, { recursive: true });
  return made;
}

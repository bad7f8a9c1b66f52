/** The application on other runtimes, and as CommonJS. */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Check } from './check.ts';
import { exec, node } from './exec.ts';
import {
  application,
  applicationPrints,
  commonApplication,
  everySubpath,
  sandboxes,
} from './programs.ts';
import { type Subject, specifiers, tools } from './subject.ts';

/** Bun's program. Its package has a copy for the machine only after an install script has run. */
export function bunBinary(): string {
  return join(platformFolder('@oven'), 'bin', process.platform === 'win32' ? 'bun.exe' : 'bun');
}

/** Deno's program, likewise. */
function denoBinary(): string {
  return join(platformFolder('@deno'), process.platform === 'win32' ? 'deno.exe' : 'deno');
}

/** npm installs the packages of this machine's platform alone; the plain one comes first. */
function platformFolder(scope: string): string {
  const scoped = join(tools, 'node_modules', scope);
  const [first] = readdirSync(scoped).sort();
  if (first === undefined) throw new Error(`no program for this platform in ${scoped}`);
  return join(scoped, first);
}

export async function runtimeChecks({ project }: Subject): Promise<Check[]> {
  writeFileSync(join(project, 'app.mjs'), application);
  writeFileSync(join(project, 'every.mjs'), everySubpath(specifiers));
  writeFileSync(join(project, 'app.cjs'), commonApplication);
  writeFileSync(join(project, 'sandboxes.mjs'), sandboxes);
  const [bun, deno] = [bunBinary(), denoBinary()];
  const bunVersion = (await exec(project, bun, ['--version'])).trim();
  const [, denoVersion] = /^deno (\S+)/.exec(await exec(project, deno, ['--version'])) ?? [];
  const denoRun = ['run', '--allow-all', '--no-remote', '--node-modules-dir=manual'];
  const both = async (command: string, args: readonly string[]): Promise<void> => {
    assert.deepEqual(
      JSON.parse(await exec(project, command, [...args, 'app.mjs'])),
      applicationPrints,
    );
    assert.equal((await exec(project, command, [...args, 'every.mjs'])).trim(), 'true');
  };
  return [
    {
      name: `Bun ${bunVersion}: the application and every subpath`,
      run: () => both(bun, ['run', '--no-install']),
    },
    {
      name: `Deno ${denoVersion}: the application and every subpath`,
      run: () => both(deno, denoRun),
    },
    ...[
      { name: `Bun ${bunVersion}`, command: bun, args: ['run', '--no-install'] },
      { name: `Deno ${denoVersion}`, command: deno, args: denoRun },
    ].map(({ name, command, args }) => ({
      name: `${name}: a sandbox says that it needs Node`,
      run: async () => {
        const told = JSON.parse(await exec(project, command, [...args, 'sandboxes.mjs']));
        const refused = ['sandbox_unsupported', `this is ${name}`];
        assert.deepEqual(told, [refused, refused]);
      },
    })),
    {
      name: `Node ${process.versions.node}, CommonJS: every subpath by require(), and a call`,
      run: async () => {
        const told = JSON.parse(await node(project, 'app.cjs', ...specifiers)) as {
          least: number;
          output: unknown;
        };
        assert.equal(told.output, 3);
        assert.ok(told.least > 0, 'a subpath exports nothing');
      },
    },
  ];
}

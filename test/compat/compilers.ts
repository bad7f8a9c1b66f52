/** A TypeScript host, compiled by the releases that hosts have. */
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Check } from './check.ts';
import { node } from './exec.ts';
import { consumer, everySubpath } from './programs.ts';
import { folder, manifest, type Subject, specifiers, tools } from './subject.ts';

const resolutions = {
  node16: { module: 'node16', moduleResolution: 'node16', types: ['node'] },
  bundler: { module: 'esnext', moduleResolution: 'bundler', types: ['node'] },
} as const;

/** Declarations that need another package, which a host of that subpath has installed. */
const typed = specifiers.filter(
  (specifier) => !/\/(?:acp|langchain|claude-agent|otel|bullmq)$/.test(specifier),
);

export function compilerChecks(subject: Subject): Check[] {
  const releases = readdirSync(join(tools, 'node_modules')).filter((name) =>
    name.startsWith('typescript-'),
  );
  if (releases.length < 5) throw new Error(`expected five releases of TypeScript, got ${releases}`);
  releases.sort();
  return releases.flatMap((release) => {
    const installed = join(tools, 'node_modules', release);
    const { version, bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
      version: string;
      bin: { tsc: string };
    };
    // Checking all declarations takes long, so the oldest and the newest release do it.
    const isEdge = release === releases[0] || release === releases.at(-1);
    return Object.entries(resolutions).map(([name, options]) => ({
      name: `TypeScript ${version}: a host compiles with moduleResolution ${name}`,
      run: async () => {
        const declarations = isEdge && name === 'bundler';
        const place = folder(subject, `${release} ${name}`);
        writeFileSync(join(place, 'package.json'), '{ "private": true, "type": "module" }\n');
        writeFileSync(join(place, 'host.ts'), consumer);
        writeFileSync(join(place, 'every.ts'), everySubpath(typed));
        writeFileSync(
          join(place, 'tsconfig.json'),
          JSON.stringify({
            compilerOptions: {
              target: 'ES2022',
              lib: ['ES2022', 'DOM', 'DOM.Iterable'],
              strict: true,
              exactOptionalPropertyTypes: true,
              noEmit: true,
              skipLibCheck: !declarations,
              typeRoots: [join(tools, 'node_modules/@types')],
              ...options,
            },
            files: ['host.ts', 'every.ts'],
          }),
        );
        symlinkSync(join(subject.project, 'node_modules'), join(place, 'node_modules'), 'junction');
        await compile(place, join(installed, bin.tsc));
      },
    }));
  });
}

/** Compiles a project. @throws Error with what is wrong in it or in our declarations */
async function compile(place: string, tsc: string): Promise<void> {
  try {
    await node(place, tsc, '-p', 'tsconfig.json', '--pretty', 'false');
  } catch (error) {
    const said = (error as Error).message.split('\n').filter((line) => /error TS\d+/.test(line));
    const ours = said.filter(
      (line) => !line.includes('node_modules/') || line.includes(`node_modules/${manifest.name}/`),
    );
    if (said.length === 0) throw error;
    if (ours.length > 0) throw new Error(ours.join('\n'));
  }
}

/** Publishing to a registry, and installing from it. The registry listens on the loopback alone. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Check } from './check.ts';
import { cleanEnvironment, node, npm } from './exec.ts';
import { application, applicationPrints } from './programs.ts';
import { folder, manifest, root, type Subject, tools } from './subject.ts';

/** Milliseconds in which the registry has to answer. */
const startMs = 60_000;

export function publishingChecks(subject: Subject): Check[] {
  return [
    {
      name: 'npm publish --dry-run works from the repository',
      run: async () => {
        await npm(root, 'publish', '--dry-run', '--ignore-scripts', '--json');
      },
    },
    {
      name: 'Verdaccio: the package is published, installed from there, and runs',
      run: () => publish(subject),
    },
  ];
}

async function publish(subject: Subject): Promise<void> {
  const place = folder(subject, 'registry');
  const upstream = (await npm(place, 'config', 'get', 'registry')).trim();
  writeFileSync(join(place, 'config.yaml'), registryConfig(upstream));
  const port = await freePort();
  const address = `http://127.0.0.1:${port}/`;
  const server = spawn(
    process.execPath,
    [
      join(tools, 'node_modules/verdaccio/bin/verdaccio'),
      '--config',
      join(place, 'config.yaml'),
      '--listen',
      `127.0.0.1:${port}`,
    ],
    { cwd: place, env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] },
  );
  try {
    await answers(server, address);
    const npmrc = await signUp(place, address);
    // From the repository, as the release does it.
    await npm(root, 'publish', '--ignore-scripts', '--userconfig', npmrc, '--registry', address);
    const app = folder(subject, 'installed');
    writeFileSync(join(app, 'package.json'), '{ "private": true, "type": "module" }\n');
    await npm(
      app,
      'install',
      '--ignore-scripts',
      '--userconfig',
      npmrc,
      '--registry',
      address,
      '--cache',
      join(place, 'cache'),
      `${manifest.name}@${manifest.version}`,
    );
    writeFileSync(join(app, 'app.mjs'), application);
    assert.deepEqual(JSON.parse(await node(app, 'app.mjs')), applicationPrints);
  } finally {
    server.kill();
  }
}

/** The package itself has no upstream, so nothing but what was published can be installed. */
function registryConfig(upstream: string): string {
  return `
storage: ./storage
auth: { htpasswd: { file: ./htpasswd } }
uplinks: { npm: { url: ${JSON.stringify(upstream)} } }
packages:
  ${manifest.name}: { access: $all, publish: $authenticated }
  '**': { access: $all, proxy: npm }
log: { type: stdout, level: error }
`;
}

/** Makes a user of the registry. Resolves to a file with its token. */
async function signUp(place: string, address: string): Promise<string> {
  const user = { name: 'compat', password: 'compat-password', type: 'user', roles: [] };
  const response = await fetch(`${address}-/user/org.couchdb.user:compat`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ _id: 'org.couchdb.user:compat', ...user }),
  });
  const { token } = (await response.json()) as { token?: string };
  assert.ok(token !== undefined, `no user could be made: ${response.status}`);
  mkdirSync(join(place, 'cache'), { recursive: true });
  const npmrc = join(place, '.npmrc');
  writeFileSync(npmrc, `${address.slice('http:'.length)}:_authToken=${token}\n`);
  return npmrc;
}

async function answers(server: ChildProcess, address: string): Promise<void> {
  let said = '';
  for (const stream of [server.stdout, server.stderr])
    stream?.on('data', (text: Buffer) => {
      said += text.toString();
    });
  const deadline = Date.now() + startMs;
  while (Date.now() < deadline && server.exitCode === null) {
    const response = await fetch(`${address}-/ping`).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`the registry does not answer:\n${said}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

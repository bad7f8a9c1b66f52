/**
 * nginx and Caddy with the configurations of `docs/relay-deployment.md`. Only names, addresses and
 * certificates are replaced, because a test cannot have the real ones.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { fencesOf, root } from '../../../docs/pages.ts';
import { freePort } from '../../../stores/free-port.ts';

export const proxyNames = ['nginx', 'caddy'] as const;
export type ProxyName = (typeof proxyNames)[number];

const versionOf = { nginx: ['-v'], caddy: ['version'] } as const;

/** Whether the program is installed. */
export function isInstalled(name: ProxyName): boolean {
  return spawnSync(name, [...versionOf[name]], { stdio: 'ignore' }).status === 0;
}

/**
 * A suite that needs a proxy begins with this: where proxies are demanded, absence is a failure.
 */
export function demandProxy(name: ProxyName): void {
  if (isInstalled(name) || process.env.HOST_TOOLS_REQUIRE_PROXIES !== '1') return;
  test(`${name} is on the PATH, since HOST_TOOLS_REQUIRE_PROXIES=1`, () => {
    throw new Error(
      `Expected to find \`${name}\` on the PATH, since HOST_TOOLS_REQUIRE_PROXIES=1; install it, ` +
        'such as by `apt-get install nginx-light caddy`',
    );
  });
}

/** Finds the code fence of this language with these words in the page on deployment. */
export function shown(language: string, words: string): string {
  const text = readFileSync(join(root, 'docs/relay-deployment.md'), 'utf8');
  const found = fencesOf(text).filter(
    ({ info, code }) => info === language && code.includes(words),
  );
  if (found.length !== 1)
    throw new Error(`Expected one fence of ${language} with \`${words}\`, got ${found.length}.`);
  return (found[0] as { code: string }).code;
}

/** Replaces a text. Fails if it is missing. */
function exchange(text: string, pattern: RegExp, by: string): string {
  if (!pattern.test(text)) throw new Error(`Expected ${pattern} in:\n${text}`);
  return text.replace(pattern, by);
}

function nginxText(folder: string, port: number, nodes: readonly number[]): string {
  let text = shown('nginx', 'upstream relay');
  text = exchange(
    text,
    /(?: +server [\d.:]+;\n)+/,
    nodes.map((node) => `  server 127.0.0.1:${node};\n`).join(''),
  );
  text = exchange(text, /listen 443 ssl;\n/, `listen 127.0.0.1:${port};\n`);
  text = exchange(text, / *http2 on;[^\n]*\n/, '');
  text = exchange(text, /(?: *ssl_certificate[^\n]*\n)+/, '');
  text = exchange(text, /\/var\/log\/nginx/, folder);
  return [
    // The folder belongs to the user that runs the test.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'worker_processes 1;',
    'daemon off;',
    `pid ${folder}/nginx.pid;`,
    'error_log stderr warn;',
    'events {}',
    'http {',
    ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `  ${kind}_temp_path ${folder}/${kind};`,
    ),
    text,
    '}',
  ].join('\n');
}

function caddyText(port: number, nodes: readonly number[]): string {
  let text = shown('text', 'reverse_proxy');
  text = exchange(text, /^relay\.example\.com \{/m, `http://:${port} {\n  bind 127.0.0.1`);
  text = exchange(
    text,
    /reverse_proxy (?:[\d.:]+ )+\{/,
    `reverse_proxy ${nodes.map((node) => `127.0.0.1:${node}`).join(' ')} {`,
  );
  return `{\n  admin off\n  auto_https off\n}\n${text}`;
}

export interface RunningProxy {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a proxy in front of nodes of this machine. Resolves when it accepts connections. */
export async function startProxy(name: ProxyName, nodes: readonly number[]): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), `host-tools-${name}-`));
  const port = await freePort();
  const file = join(folder, name === 'nginx' ? 'nginx.conf' : 'Caddyfile');
  writeFileSync(file, name === 'nginx' ? nginxText(folder, port, nodes) : caddyText(port, nodes));
  const argv =
    name === 'nginx'
      ? ['-p', folder, '-c', file, '-e', 'stderr']
      : ['run', '--adapter', 'caddyfile', '--config', file];
  const child = spawn(name, argv, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-10_000);
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    // The workers of nginx outlive its SIGKILL. Caddy waits for streams at SIGTERM.
    child.kill(name === 'nginx' ? 'SIGTERM' : 'SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await accepts(port, child, () => said);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `http://127.0.0.1:${port}`, port, stop };
}

async function accepts(port: number, child: ChildProcess, said: () => string): Promise<void> {
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`The proxy ended before it listened:\n${said()}`);
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

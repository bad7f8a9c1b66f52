/**
 * Every command line that README.md and the pages of docs print does what the page says: in an empty
 * folder, with the package as npm packs it, from a registry. What a page takes for granted, such as a
 * file of tools, is in the table. `test/docs.test.ts` compares the table with the pages.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { npm } from '../compat/exec.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
} from '../stores/redis/redis-server.ts';
import { isInstall, likeTranscript, ownRow, packagesOf } from './own-rows.ts';
import { type Group, type Printed, printedCommands } from './printed-commands.ts';
import { client, gateway, hello, startServer, tools } from './reader-files.ts';
import { type Registry, startRegistry } from './registry.ts';
import type { PageRows } from './rows.ts';
import { addresses } from './shared-rows.ts';
import { openStage, type Place, type Stage } from './stage.ts';
import { table } from './table.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string;
  version: string;
};
const printed = printedCommands();
const none: PageRows = { commands: {} };

let registry: Registry;
let stage: Stage;
let redis: RedisServer | undefined;
let mcp: Awaited<ReturnType<typeof startServer>>;

demandRedis();

beforeAll(async () => {
  const { work, tarball } = inject('packed');
  const upstream = (await npm(work, 'config', 'get', 'registry')).trim();
  registry = await startRegistry(tarball, manifest, upstream);
  stage = await openStage(work, registry.url);
  mcp = await startServer();
  if (redisAvailable) redis = await startRedis();
  // Each folder of `npx` is made once, before commands share it.
  const { run } = stage.place();
  await run('npx -y host-tools --version');
});

afterAll(async () => {
  stage?.close();
  registry?.close();
  mcp?.close();
  await redis?.stop();
});

describe.concurrent('each command runs as it is printed', () => {
  test.each(casesOf())('%s', async (_, page, groups) => {
    const place = stage.place();
    const { files = {} } = table[page] ?? none;
    for (const [path, text] of Object.entries(files)) place.write({ [path]: withServer(text) });
    for (const command of groups.flat()) await check(page, command, place);
  });
});

describe.concurrent('under `npx`, a missing package is named with a line that works', () => {
  test.each<[command: string, files: Record<string, string>, names: string[], until: RegExp]>([
    [
      `serve tools.yaml --principal "Ann O'Neil"`,
      tools,
      ['@modelcontextprotocol/server'],
      /"serverInfo"/,
    ],
    [
      'serve gateway.yaml',
      gateway,
      ['@modelcontextprotocol/client', '@modelcontextprotocol/server'],
      /"serverInfo"/,
    ],
    [
      `worker --redis ${addresses.redis} --queue q --host-tools tools.yaml`,
      tools,
      ['bullmq', 'ioredis'],
      /Serving `q`/,
    ],
    ['gateway import', client, ['@modelcontextprotocol/client'], /gateway\.yaml with 1 server/],
  ])('%s', async (command, files, names, until) => {
    if (redis === undefined && command.includes(addresses.redis)) return;
    const place = stage.place();
    place.write(files);
    const refused = await place.run(`npx host-tools ${withServer(command)}`);
    expect(refused.exit, refused.said).toBe(1);
    for (const name of names) expect(refused.said).toContain(`\`${name}\``);
    const [, line = ''] = /`(npx [^`]+)`/.exec(refused.said) ?? [];
    expect(line).toMatch(/^npx -y -p host-tools -p /);
    const ran = await place.run(line, until, hello);
    expect(ran.exit, `${line}\n${ran.said}`).toBe('ready');
  });
});

test('installed for all projects, the line installs what is missing there', async () => {
  const place = stage.place();
  place.write(tools);
  await place.run('npm install --global host-tools');
  const { exit, said } = await place.run('host-tools serve tools.yaml');
  const line = 'npm install --global @modelcontextprotocol/server@2';
  expect([exit, said]).toEqual([1, expect.stringContaining(`\`${line}\``)]);
  await place.run(line);
  const ran = await place.run('host-tools serve tools.yaml', /"serverInfo"/, hello);
  expect(ran.exit, ran.said).toBe('ready');
});

/** The groups that share a folder. A line that only installs packages is tried once. */
function casesOf(): [title: string, page: string, groups: readonly Group[]][] {
  const installs = new Set<string>();
  return [...printed].flatMap(([page, groups]): [string, string, readonly Group[]][] => {
    const { isOneWalk = false } = table[page] ?? none;
    if (isOneWalk) return [[page, page, groups]];
    return groups
      .filter((group) => {
        const text = group.map((command) => command.text).join('\n');
        if (!group.every((command) => isInstall(command.text))) return true;
        if (installs.has(text)) return false;
        installs.add(text);
        return true;
      })
      .map((group) => [`${page}:${group[0]?.line}`, page, [group]]);
  });
}

async function check(page: string, { text, output }: Printed, place: Place): Promise<void> {
  const row = table[page]?.commands[text] ?? ownRow(text);
  if (row === undefined) throw new Error(`The table has no row for ${text}`);
  if (typeof row === 'string') return;
  let line = text;
  for (const [from, to] of Object.entries(row.instead ?? {})) line = line.replaceAll(from, to);
  if (redis === undefined && line.includes(addresses.redis)) return;
  line = withServer(line);
  for (const [path, file] of Object.entries(row.files ?? {}))
    place.write({ [path]: withServer(file) });
  await row.before?.(place);
  const ran = await place.run(line, row.until, row.input);
  const where = `${page}: ${line}\n${ran.said}`;
  expect(ran.exit, where).toBe(row.until === undefined ? (row.exit ?? 0) : 'ready');
  if (row.says !== undefined) expect(ran.said, where).toMatch(row.says);
  else if (output !== undefined) expect(ran.said, where).toMatch(likeTranscript(output));
  if (!isInstall(line) || line.includes('--global')) return;
  for (const name of packagesOf(line))
    expect(existsSync(join(place.cwd(), 'node_modules', name, 'package.json')), name).toBe(true);
}

/** A text with the addresses of servers that exist. */
function withServer(text: string): string {
  const local = text.replaceAll(addresses.mcp, mcp.url);
  return redis === undefined
    ? local
    : local.replaceAll(addresses.redis, `redis://127.0.0.1:${redis.port}`);
}

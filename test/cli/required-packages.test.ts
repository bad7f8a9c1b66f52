/** Commands that need packages which npm does not install by itself. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { parseLine } from '../../src/cli/options.ts';
import { requirePackages } from '../../src/cli/required-packages.ts';
import { optionalPackages, type Surroundings } from '../../src/values/packages/install-line.ts';
import { program } from '../runner/programs.ts';
import { folder } from '../surfaces/config/folder.ts';

const client = '@modelcontextprotocol/client';
const server = '@modelcontextprotocol/server';
const withServers = { mcpServers: { a: { command: 'x' } } };
const without = fileURLToPath(new URL('./fixtures/without-packages.cjs', import.meta.url));

/** What is said where some packages are missing; empty if nothing is. */
async function said(
  argv: string[],
  missing: readonly string[],
  around?: Surroundings,
): Promise<string> {
  const { path } = folder({
    'gateway.json': withServers,
    'code.json': { code: true },
    'no-code.json': { code: false },
    'tools.json': { rules: [{ effect: 'ask' }] },
    'wrong.json': '{',
  });
  const { words, options } = parseLine(argv);
  const command = commands.find(({ name }) => words.join(' ').startsWith(name));
  if (command === undefined) throw new Error(`There is no ${words}.`);
  const [word] = words.slice(command.name.split(' ').length);
  const sources =
    command.loadsWord === true && word !== undefined
      ? [{ kind: 'file' as const, name: word }]
      : options.sources;
  return requirePackages(
    command,
    { ...options, sources },
    argv,
    path,
    (name) => !missing.includes(name),
    around,
  )
    .then(() => '')
    .catch((error: Error) => error.message);
}

const all = [client, server, 'bullmq', 'ioredis', 'run'];
const files = ['--host-tools', 'gateway.json'];
test.each<[string[], string[]]>([
  [
    ['serve', 'gateway.json'],
    [client, server],
  ],
  [['serve', 'tools.json'], [server]],
  [
    ['serve', 'tools.json', '--store', 'redis://cache'],
    [server, 'ioredis'],
  ],
  [['serve', 'wrong.json'], [server]],
  [['serve', 'nowhere.json'], [server]],
  [['list', ...files], [client]],
  [['call', 'x', ...files], [client]],
  [['explain', 'x', ...files], [client]],
  [['search', 'x', ...files], [client]],
  [['inspect', ...files], [client]],
  [['policy', 'test', 'x.yaml', ...files], [client]],
  [['list', '--host-tools', 'tools.json'], []],
  [
    ['serve', 'code.json'],
    ['run', server],
  ],
  [['inspect', '--host-tools', 'code.json'], ['run']],
  [['relay', '--host-tools', 'code.json'], ['run']],
  [['serve', 'no-code.json'], [server]],
  [['list', '--host-tools', 'code.json'], []],
  [['call', 'x', '--host-tools', 'code.json'], []],
  [
    ['worker', '--redis', 'redis://x', '--queue', 'q', ...files],
    [client, 'bullmq', 'ioredis'],
  ],
  [['relay', '--redis', 'redis://x'], ['ioredis']],
  [['relay'], []],
  [['mcp', 'pin', 'https://a.b'], [client]],
  [['gateway', 'login', 'a'], [client]],
  [['hook', 'codex', ...files], []],
  [['validate', 'gateway.json'], []],
])('%j needs %j, and all of them are named at once', async (argv, needed) => {
  const text = await said(argv, all);
  if (needed.length === 0) return expect(text).toBe('');
  for (const name of needed) expect(text).toContain(`\`${name}\``);
  for (const name of all) if (!needed.includes(name)) expect(text).not.toContain(`\`${name}`);
  const versioned = needed.map((name) => `${name}@${optionalPackages[name]}`);
  expect(text).toContain(`\`npm install ${versioned.join(' ')}\``);
  expect(await said(argv, [])).toBe('');
});

const npx: Surroundings = {
  url: 'file:///home/ann/.npm/_npx/0a1b2c/node_modules/host-tools/dist/install-line.js',
  env: {},
};

test('under `npx`, the line has every package of the command, and the command line', async () => {
  expect(await said(['serve', 'gateway.json', '--principal', "Ann O'Neil"], [client], npx)).toBe(
    `\`serve\` needs \`${client}\`, which npm does not install with host-tools. Run the command ` +
      `with it: \`npx -y -p host-tools -p ${client}@2 -p ${server}@2 host-tools serve gateway.json ` +
      `--principal 'Ann O'\\''Neil'\`.`,
  );
});

test('in a project, the line installs what is missing', async () => {
  expect(await said(['serve', 'gateway.json'], [client, server])).toBe(
    `\`serve\` needs \`${client}\` and \`${server}\`, which npm does not install with ` +
      'host-tools. Install them beside host-tools, and run the command again: ' +
      `\`npm install ${client}@2 ${server}@2\`.`,
  );
});

test.each<[what: string, words: string[], shown: string]>([
  ['an address with a password', ['--redis', 'redis://:hunter2-0123@h'], '--redis …'],
  ['a control character', ['--redis', 'redis://h', '--config', 'a\u001b[2Jb'], '--config …'],
  ['a line break', ['--redis', 'redis://h', '--config', 'a\nb'], '--config …'],
  ['what a shell would run', ['--redis', 'redis://h', '--config', '$(id)'], "--config '$(id)'"],
  ['a very long word', ['--redis', 'redis://h', '--config', 'x'.repeat(5_000)], 'host-tools …'],
])('%s cannot be copied as it is, and is not repeated so', async (_, words, shown) => {
  const text = await said(['relay', ...words], ['ioredis'], npx);
  expect(text).toContain(`${shown}\`.`);
  expect(text).not.toMatch(/hunter2|\p{Cc}/u);
  expect(text.length).toBeLessThan(400);
});

test('the program ends with 1 before it starts a server', () => {
  const { path } = folder({
    'gateway.json': { mcpServers: { a: { command: process.execPath, args: ['-e', '0'] } } },
  });
  const ran = spawnSync(
    process.execPath,
    ['--require', without, program('src/cli/index.ts'), 'serve', 'gateway.json'],
    { cwd: path, env: { ...process.env, WITHOUT: client }, encoding: 'utf8', input: '' },
  );
  expect([ran.status, ran.stdout]).toEqual([1, '']);
  expect(ran.stderr).toMatch(/^host-tools: `serve` needs `@modelcontextprotocol\/client`/);
});

/** No command writes over a file that it reads, or over a file of an audit log. */
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { runHook } from '../../src/cli/hook-run.ts';
import { type OptionName, type OptionRow, optionTable } from '../../src/cli/option-table.ts';
import { verifyAudit } from '../../src/surfaces/audit/index.ts';
import { written } from '../surfaces/audit/written-log.ts';
import { cli } from './cli-run.ts';

/** Every option, by what the command does with the file that it names. */
const uses: Readonly<Record<'read' | 'write' | 'log' | 'none', readonly OptionName[]>> = {
  read: [
    'host-tools',
    'host-tools-module',
    'facts',
    'input',
    'key-file',
    'config',
    'from',
    'rules',
  ],
  write: ['html', 'pins'],
  log: ['audit'],
  none: [
    'profile',
    'timeout-ms',
    'http',
    'issuer',
    'audience',
    'jwks-url',
    'scopes',
    'metrics',
    'principal',
    'pin',
    'port',
    'allow-calls',
    'host',
    'redis',
    'store',
    'queue',
    'concurrency',
    'host-key',
    'allowed-origin',
    'allow-origin',
    'allowed-host',
    'trust-proxy',
    'ttl',
    'max-ttl',
    'lease',
    'request-timeout',
    'limit',
    'max-connections',
    'pairing',
    'accept',
    'yes',
    'prefix',
    'print',
    'env',
    'header',
    'client-id',
    'client-secret',
    'head',
    'no-calls',
    'cancel-unasked',
    'fail-on',
    'coverage',
    'fail-under',
    'top',
    'verbose',
    'json',
    'help',
    'version',
  ],
};

const rows: Readonly<Record<string, OptionRow>> = optionTable;

test('each option says what it does with a file', () => {
  expect(Object.values(uses).flat().sort()).toEqual(Object.keys(rows).sort());
  for (const [use, names] of Object.entries(uses))
    for (const name of names)
      expect([name, rows[name]?.file ?? 'none'], `--${name}`).toEqual([name, use]);
});

/** A file, and paths that lead to it without looking like it. */
function pathsTo(folder: string, file: string): Readonly<Record<string, string>> {
  const paths = {
    'the same path': file,
    'another spelling': `${folder}/sub/.././${file.slice(folder.length + 1)}`,
    'a relative path': relative(folder, file),
    'a link': join(folder, 'link'),
    'a link to a link': join(folder, 'link2'),
    'a path through a linked folder': join(folder, 'linked', file.slice(folder.length + 1)),
    'a hard link': join(folder, 'hard'),
  };
  mkdirSync(join(folder, 'sub'));
  symlinkSync(file, paths['a link']);
  symlinkSync('link', paths['a link to a link']);
  symlinkSync('.', join(folder, 'linked'));
  if (existsSync(file)) linkSync(file, paths['a hard link']);
  else Reflect.deleteProperty(paths, 'a hard link');
  return paths;
}

function fresh(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'outputs-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Everything in a folder, to see whether something has changed. */
function contents(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [name, readFileSync(join(folder, name), 'latin1')]),
  );
}

const outputs = commands.flatMap((command) =>
  command.options
    .filter((name) => uses.write.includes(name) || uses.log.includes(name))
    .map((output) => ({ command, output })),
);

test('the commands with outputs are these', () => {
  expect(outputs.map(({ command, output }) => `${command.name} --${output}`)).toEqual([
    'hook --audit',
    'mcp pin --pins',
    'audit report --html',
  ]);
  expect(
    commands.flatMap(({ name, writes }) => (writes === undefined ? [] : [name, writes])),
  ).toEqual(['gateway import', 'gateway.yaml']);
});

describe.each(outputs)('$command.name --$output', ({ command, output }) => {
  const inputs = [...command.options.filter((name) => uses.read.includes(name)), 'a word'] as const;

  test.each(inputs)('does not write over the file of %s, by whatever path', async (input) => {
    const folder = fresh();
    const file = join(folder, 'given.json');
    writeFileSync(file, '{"rules":[]}');
    for (const [how, path] of Object.entries(pathsTo(folder, file))) {
      const before = contents(folder);
      const words = input === 'a word' ? command.operands.map(() => file) : ['other'];
      const options = input === 'a word' ? [] : [`--${input}`, file];
      const argv = [...command.name.split(' '), ...words, ...options, `--${output}`, path];
      const ran =
        command.name === 'hook'
          ? await hook(['hook', 'claude-code', '--host-tools', file, '--audit', path], folder)
          : await cli(argv, { cwd: folder });
      expect(ran.exit, how).toBe(2);
      expect(ran.stderr, how).toContain('must not write to');
      expect(contents(folder), how).toEqual(before);
    }
  });

  test.each(['', '.1', '.2', '.7', '.lock', '.lock.turn', '.key', '.head', '.checkpoint'])(
    'does not write over audit.jsonl%s of a log, or where it may be',
    async (suffix) => {
      // A hook appends to its log.
      if (output === 'audit' && suffix === '') return;
      const folder = fresh();
      const path = await written(folder);
      const file = `${path}${suffix}`;
      for (const [how, to] of Object.entries(pathsTo(folder, file))) {
        // Of a hard link to a key, only the log that the command reads can tell what it is.
        if (how === 'a hard link' && output !== 'html') continue;
        const before = contents(folder);
        const words = command.name === 'audit report' ? [path] : ['other'];
        const ran =
          command.name === 'hook'
            ? await hook(
                ['hook', 'claude-code', '--host-tools', rules(folder), '--audit', to],
                folder,
              )
            : await cli([...command.name.split(' '), ...words, `--${output}`, to], { cwd: folder });
        rmSync(join(folder, 'rules.json'), { force: true });
        expect([ran.exit, ran.stderr], how).toEqual([2, expect.stringContaining('must not write')]);
        expect(contents(folder), how).toEqual(before);
        expect(await verifyAudit(path), how).toMatchObject({ ok: true });
      }
    },
  );
});

function rules(folder: string): string {
  const file = join(folder, 'rules.json');
  writeFileSync(file, '{"rules":[]}');
  return file;
}

async function hook(argv: readonly string[], folder: string) {
  const end = await runHook({
    argv,
    stdin: JSON.stringify({
      session_id: 's',
      cwd: folder,
      hook_event_name: 'PreToolUse',
      tool_name: 'Read',
      tool_input: { file_path: 'x' },
    }),
    env: { HOME: fresh() },
    cwd: folder,
    now: () => 0,
  });
  return { exit: end.exit, stderr: end.exit === 2 ? end.stderr : end.stdout };
}

test('a log of a file of rules is no file that the hook reads either', async () => {
  const folder = fresh();
  const file = join(folder, 'rules.json');
  writeFileSync(file, '{"rules":[],"audit":{"path":"./rules.json"}}');
  const before = contents(folder);
  expect(await hook(['hook', 'claude-code', '--host-tools', file], folder)).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('the audit log must not write to'),
  });
  expect(contents(folder)).toEqual(before);
});

test('gateway import does not read the file that it writes', async () => {
  const folder = fresh();
  writeFileSync(join(folder, 'gateway.yaml'), '{"mcpServers":{"a":{"command":"a"}}}');
  const before = contents(folder);
  const ran = await cli(['gateway', 'import', './gateway.yaml'], { cwd: folder });
  expect([ran.exit, contents(folder)]).toEqual([2, before]);
});

describe('a report goes elsewhere', () => {
  let folder: string;
  let path: string;
  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'outputs-')));
    path = await written(folder);
    return () => rmSync(folder, { recursive: true, force: true });
  });

  test.each(['report.html', 'audit.jsonl.html', 'audit.html', 'audit.jsonl.1.html'])(
    'to %s, twice',
    async (name) => {
      for (let times = 0; times < 2; times++) {
        expect(await cli(['audit', 'report', path, '--html', name], { cwd: folder })).toMatchObject(
          {
            exit: 0,
          },
        );
        expect(readFileSync(join(folder, name), 'utf8')).toMatch(/^<!doctype html>/i);
      }
    },
  );

  test('through a link, which stays one', async () => {
    mkdirSync(join(folder, 'site'));
    writeFileSync(join(folder, 'site/page.html'), 'old');
    symlinkSync('site/page.html', join(folder, 'latest.html'));
    await cli(['audit', 'report', path, '--html', 'latest.html'], { cwd: folder });
    expect(readFileSync(join(folder, 'site/page.html'), 'utf8')).toMatch(/^<!doctype html>/i);
    renameSync(join(folder, 'latest.html'), join(folder, 'site/link.html'));
  });

  test.skipIf(process.platform === 'win32')('to a device', async () => {
    expect(
      await cli(['audit', 'report', path, '--html', '/dev/null'], { cwd: folder }),
    ).toMatchObject({ exit: 0 });
  });
});

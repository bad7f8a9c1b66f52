/** Namespaces of Linux around a process. They need `bwrap`, and a system that lets it work. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { bubblewrapCommand } from '../../../src/executors/sandbox/bubblewrap.ts';
import { processExecutor, type SandboxPermissions } from '../../../src/executors/sandbox/index.ts';
import { readPermissions } from '../../../src/executors/sandbox/permissions.ts';
import type { Executor } from '../../../src/index.ts';
import { expectQuiet, handlerOf, ignoresTerm, once, sandboxed } from './executors.ts';

const folder = mkdtempSync(join(tmpdir(), 'host-tools-bubblewrap-'));
writeFileSync(join(folder, 'secret'), 'secret');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const wrapped = (name: string, permissions?: SandboxPermissions): Executor =>
  processExecutor({
    module: handlerOf('probes'),
    export: name,
    permissions,
    bubblewrap: 'require',
  });
const works = canUnshare();

test('where it is not installed, that is said', () => {
  const none = readPermissions('test', undefined);
  expect(() => bubblewrapCommand('/a/h.js', '/a', none, '/nowhere')).toThrow(
    "The tool's sandbox could not be started: it needs bubblewrap (`bwrap`), which is not " +
      'installed here.',
  );
});

test('a working directory that would not exist in there is refused', () => {
  const inFolder = (read: string[], cwd: string): Executor =>
    processExecutor({
      module: handlerOf('probes'),
      cwd,
      permissions: { fs: { read } },
      bubblewrap: 'require',
    });
  expect(() => inFolder([`${folder}-other`], folder)).toThrow(
    'processExecutor: expected `cwd` to be a folder that the handler may read, got ' +
      `\`${folder}\`, which does not exist in bubblewrap. Add it to \`permissions.fs.read\`, or ` +
      'leave `cwd` out.',
  );
  for (const cwd of [folder, join(folder, 'sub'), tmpdir(), '/', '/usr/share'])
    inFolder([folder], cwd);
});

test('where it cannot work, calls are refused and never run without it', async () => {
  if (works) return;
  expect(await once(wrapped('pid'))).toMatchObject({ code: 'sandbox_unavailable' });
});

describe.runIf(works)('where it works', () => {
  test('it hides processes and files', async () => {
    expect(await once(wrapped('sees'), { pid: process.pid })).toBe('ESRCH');
    expect(await once(wrapped('read'), { path: join(folder, 'secret') })).toMatch(
      /^(ERR_ACCESS_DENIED|ENOENT)$/,
    );
    const read = { fs: { read: [folder] } };
    expect(await once(wrapped('read', read), { path: join(folder, 'secret') })).toBe('done');
  });

  test('it leaves signals to the host', async () => {
    const executor = processExecutor({
      module: handlerOf('probes'),
      export: 'counts',
      bubblewrap: 'require',
      pool: { max: 1, spare: 0 },
    });
    const { registry, run } = sandboxed(executor);
    await run({});
    const [pid = 0, ...others] = children().filter((one) => nameOf(one) === 'bwrap');
    expect(others).toEqual([]);
    expect(ignoresTerm(pid)).toBe(true);
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM']) process.kill(pid, signal);
    expect((await run({})).output).toBe(2);
    await registry.close();
  });

  test('a detached child ends with its sandbox', async () => {
    const file = join(folder, 'detached');
    const permissions = { childProcess: true, fs: { write: [folder] } };
    await once(wrapped('leaves', permissions), { detached: true, file });
    await expectQuiet(file);
  });

  // The rules of Node do not hold for a child process, so these are of the namespaces alone.
  const shell = (command: string): Promise<unknown> =>
    once(wrapped('shell', { childProcess: true, fs: { write: [folder] } }), { command });

  test('a child process has no capabilities, even if the host has all of them', async () => {
    expect(await shell('grep -E "^Cap(Prm|Eff)" /proc/self/status')).toMatch(
      /^CapPrm:\t0+\nCapEff:\t0+\n$/,
    );
    expect(await shell('mount -o remount,rw /usr && echo mounted')).not.toContain('mounted');
  });

  test.each(['/', '/tmp', '/usr', '/etc', '/dev', '/dev/shm', '/proc'])(
    'a child process can write to no folder but those that it was given: %s',
    async (path) => {
      const written = await shell(`(echo 1 > ${path}/host-tools-test) 2>&1 && echo written`);
      expect(written).not.toContain('written');
    },
  );

  test('a child process cannot change settings of the kernel', async () => {
    const setting = '/proc/sys/kernel/domainname';
    expect(await shell(`(cat ${setting} > ${setting}) 2>/dev/null && echo set`)).not.toContain(
      'set',
    );
  });

  test('a child process writes where it may, and no secrets of the system are there', async () => {
    expect(await shell(`echo 1 > ${folder}/given && echo written`)).toBe('written\n');
    const secrets = ['/etc/shadow', '/etc/ssl/private', '/run', '/var'];
    expect(await shell(`ls -d ${secrets.join(' ')} 2>/dev/null`)).toBe('');
  });
});

function canUnshare(): boolean {
  try {
    execFileSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Those of this thread, so that no other test's are among them. */
function children(): number[] {
  return readFileSync('/proc/thread-self/children', 'latin1')
    .split(' ')
    .filter((pid) => pid !== '')
    .map(Number);
}

function nameOf(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, 'latin1').trim();
}

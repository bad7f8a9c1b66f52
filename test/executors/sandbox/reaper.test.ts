/** What kills sandboxes when their host is gone. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { reaperScript } from '../../../src/executors/sandbox/reaper.ts';
import { textScript } from '../../runner/scripts.ts';
import { ignoresTerm, isAlive } from './executors.ts';

describe('the script', () => {
  /** What it kills after these lines, by the program that kills. */
  const killed = (lines: readonly string[]): string[] =>
    execFileSync('/bin/sh', ['-c', `kill() { echo "$@"; }; ${reaperScript}`], {
      input: lines.map((line) => `${line}\n`).join(''),
      encoding: 'utf8',
      env: {},
    })
      .split('\n')
      .filter((line) => line !== '');

  test('kills what was added and not removed, once each', () => {
    expect(killed([])).toEqual([]);
    expect(killed(['+ 12', '+ -123', '+ 1', '- 12'])).toEqual(['-9 -123', '-9 1']);
    expect(killed(['+ 12', '- 1', '- 2', '- -12', '+ 2', '- 12'])).toEqual(['-9 2']);
    expect(killed(['+ 12', '- 12', '+ 12'])).toEqual(['-9 12']);
  });

  test('keeps the set that it is told of, whatever the order', () => {
    // Few numbers, of which some begin or end like others.
    const target = fc.constantFrom(1, 2, 12, 121, 1212, -1, -12, -121);
    fc.assert(
      fc.property(fc.array(target, { maxLength: 30 }), (touched) => {
        const kept = new Set<number>();
        const lines = touched.map((one) => {
          if (kept.delete(one)) return `- ${one}`;
          kept.add(one);
          return `+ ${one}`;
        });
        expect(killed(lines)).toEqual([...kept].map((one) => `-9 ${one}`));
      }),
      { numRuns: 50 },
    );
  });

  test('a line that was cut off kills nothing', () => {
    const cut = spawn('/bin/sh', ['-c', `kill() { echo "$@"; }; ${reaperScript}`]);
    cut.stdin.end('+ 12\n+ 1');
    return expect(text(cut)).resolves.toBe('-9 12\n');
  });

  test('ignores what may end its host', async () => {
    const shell = spawn('/bin/sh', ['-c', `echo ready; kill() { echo "$@"; }; ${reaperScript}`]);
    const printed = text(shell);
    await new Promise((resolve) => shell.stdout.once('data', resolve));
    shell.stdin.write('+ 5\n');
    // The trap is set once a line was read, and that cannot be seen from here.
    await expect.poll(() => ignoresTerm(shell.pid as number)).toBe(true);
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const) shell.kill(signal);
    shell.stdin.end();
    expect(await printed).toBe('ready\n-9 5\n');
  });
});

describe('in a host', () => {
  /** A host that runs the text and then says `ready`. Gives the numbers that the text prints. */
  const host = async (body: string) => {
    const script = await textScript(`
      import { spawn } from 'node:child_process';
      import { readFileSync } from 'node:fs';
      import { hasEnded, killWithHost } from './src/executors/sandbox/reaper.ts';
      const sleeper = (detached = false) => {
        const { pid } = spawn('sleep', ['300'], { detached, stdio: 'ignore' });
        console.log('started', pid);
        return pid;
      };
      const children = () =>
        readFileSync('/proc/self/task/' + process.pid + '/children', 'latin1').trim().split(' ')
          .filter((pid) => pid !== '').map(Number);
      const soon = () => new Promise((resolve) => setTimeout(resolve, 20));
      /** The children besides these, once there are some. */
      const shells = async (...targets) => {
        for (;; await soon()) {
          const found = children().filter((pid) => !targets.includes(pid));
          if (found.length > 0) return found;
        }
      };
      ${body}
      console.log('ready');
      setInterval(() => {}, 1_000);`);
    const process = spawn(globalThis.process.execPath, [script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    process.stdout.on('data', (piece: Buffer) => {
      printed += piece;
    });
    onTestFinished(() => {
      process.kill('SIGKILL');
      for (const [, pid] of printed.matchAll(/^started (\d+)$/gm))
        if (isAlive(Number(pid))) globalThis.process.kill(Number(pid), 'SIGKILL');
    });
    await expect.poll(() => printed).toMatch(/ready\n$/);
    const said = printed.replaceAll(/^started .*\n/gm, '').match(/\d+/g);
    return { process, numbers: said?.map(Number) ?? [] };
  };

  test('ends targets with a host that is killed, and no others', async () => {
    const { process, numbers } = await host(`
      const [one, group, ended, other] = [sleeper(), sleeper(true), sleeper(), sleeper()];
      for (const target of [one, -group, ended]) killWithHost(target);
      hasEnded(ended);
      console.log(one, group, ended, other);`);
    const [one = 0, group = 0, ended = 0, other = 0] = numbers;
    expect(numbers.map(isAlive)).toEqual([true, true, true, true]);
    process.kill('SIGKILL');
    await expect.poll(() => [one, group].map(isAlive)).toEqual([false, false]);
    expect([ended, other].map(isAlive)).toEqual([true, true]);
  });

  test.runIf(process.platform === 'linux')(
    'is one process, which ends with its last target and is not left as a zombie',
    async () => {
      const { numbers } = await host(`
        const targets = [sleeper(), sleeper(), sleeper()];
        for (const target of targets) killWithHost(target);
        console.log(children().length - targets.length);
        for (const target of targets) hasEnded(target);
        while (children().length > targets.length) await soon();
        killWithHost(targets[0]);
        console.log(children().length - targets.length);`);
      expect(numbers).toEqual([1, 1]);
    },
  );

  test.runIf(process.platform === 'linux')('is replaced where somebody has killed it', async () => {
    const { process, numbers } = await host(`
      const target = sleeper();
      killWithHost(target);
      const [reaper] = await shells(target);
      globalThis.process.kill(reaper, 'SIGKILL');
      while (children().includes(reaper)) await soon();
      await shells(target);
      console.log(target);`);
    expect(numbers.map(isAlive)).toEqual([true]);
    process.kill('SIGKILL');
    await expect.poll(() => numbers.map(isAlive)).toEqual([false]);
  });

  test.runIf(process.platform === 'linux')(
    'is not started for ever where it cannot live, but again for the next target',
    async () => {
      const { process, numbers } = await host(`
        const targets = [sleeper(), sleeper()];
        killWithHost(targets[0]);
        for (const _ of [1, 2, 3, 4]) {
          const [reaper] = await shells(...targets);
          globalThis.process.kill(reaper, 'SIGKILL');
          while (children().includes(reaper)) await soon();
        }
        // What follows the end of the last one has happened by then.
        await soon();
        console.log(children().length - targets.length);
        killWithHost(targets[1]);
        await shells(...targets);
        console.log(...targets);`);
      const [left, ...targets] = numbers;
      expect(left).toBe(0);
      process.kill('SIGKILL');
      await expect.poll(() => targets.map(isAlive)).toEqual([false, false]);
    },
  );

  test.runIf(process.platform === 'linux')(
    'ends with its last target even if it is stopped and reads no more',
    async () => {
      const { numbers } = await host(`
        const target = sleeper();
        killWithHost(target);
        const [reaper] = await shells(target);
        globalThis.process.kill(reaper, 'SIGSTOP');
        // More than the pipe takes. There are no processes of these numbers.
        for (let n = 2 ** 30; n < 2 ** 30 + 2_000; n++) {
          killWithHost(n);
          hasEnded(n);
        }
        hasEnded(target);
        while (children().includes(reaper)) await soon();
        console.log(children().length, process.getActiveResourcesInfo().filter((one) =>
          /Write|Shutdown/.test(one)).length);`);
      expect(numbers).toEqual([1, 0]);
    },
  );
});

function text(child: ChildProcess): Promise<string> {
  let printed = '';
  child.stdout?.on('data', (piece: Buffer) => {
    printed += piece;
  });
  return new Promise((resolve) => child.once('close', () => resolve(printed)));
}

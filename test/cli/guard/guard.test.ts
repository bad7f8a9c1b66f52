/** `guard`, with the command as it is published and a real bubblewrap. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { builtCli } from '../built-cli.ts';
import { cli } from '../cli-run.ts';
import { hookWorld } from '../hook/hook-world.ts';
import { type GuardWorld, guardWorld, noSandbox, startServer } from './guard-world.ts';

/** Whether a user without rights can run this Node. Root's `npx` keeps Node in a closed folder. */
const othersCanRun =
  process.getuid?.() !== 0 ||
  spawnSync(process.execPath, ['-e', ''], { uid: 1_234, cwd: '/' }).status === 0;

let built: string;
let world: GuardWorld;

beforeAll(async () => {
  built = await builtCli('guard-box');
}, 900_000);
afterAll(() => rmSync(built, { recursive: true, force: true }));
beforeEach(() => {
  world = guardWorld(built);
});

/** All files of the home, with their texts. */
function snapshot(): Record<string, string> {
  const files = readdirSync(world.home, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    files
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name))
      .filter((path) => !path.includes('/.local/state/'))
      .map((path) => [
        path.slice(world.home.length + 1),
        world.read(path.slice(world.home.length + 1)) ?? '',
      ]),
  );
}

describe.skipIf(noSandbox !== undefined)(
  `in a sandbox${noSandbox ? ` (skipped: ${noSandbox})` : ''}`,
  () => {
    describe('files', () => {
      test('it writes in the project, in its temporary folder and in the state of agents', async () => {
        world.write('.claude/settings.json', '{}');
        world.write('.claude.json', '{"a":1}');
        const temporary = `/tmp/host-tools-${process.pid}-${Date.now()}`;
        const { exit, stdout } = await world.bash(
          'set -e; echo 1 > made.txt; mkdir sub; mv made.txt sub/; echo 1 > .git/index; ' +
            `echo 1 > ${temporary}; ` +
            'cat "$(mktemp)"; echo 1 > ~/.claude/history; echo 2 > ~/.claude.json; echo $TMPDIR',
        );
        expect([exit, stdout]).toEqual([0, '/tmp\n']);
        expect(world.read('project/sub/made.txt')).toBe('1\n');
        expect(world.read('.claude/history')).toBe('1\n');
        expect(world.read('.claude.json')).toBe('2\n');
        expect(existsSync(temporary)).toBe(false);
      });

      const writes: readonly [string, string][] = [
        ['outside of the project', 'echo x > ../outside'],
        ['to the home', 'echo x > ~/.bashrc'],
        ['by a link', 'ln -s ../.. up; echo x > up/outside; rm up'],
        ['to the rules of the run', 'echo x > ../rules.yaml'],
        ['to rules in the project', 'echo x > policy/rules.yaml'],
        [
          'to the folder of rules in the project',
          'mv policy p2; mkdir policy; echo x > policy/rules.yaml',
        ],
        ['to settings', 'echo x > ~/.claude/settings.json'],
        ['to missing settings', 'echo x > ~/.claude/settings.local.json'],
        [
          'to settings, by a rename',
          'echo x > ~/.claude/y; mv ~/.claude/y ~/.claude/settings.json',
        ],
        [
          'to settings, once they are removed',
          'rm -f ~/.claude/settings.json; echo x > ~/.claude/settings.json',
        ],
        ['to a script that settings name', 'echo x > ~/.claude/line.sh'],
        [
          'to hooks of another agent',
          'echo x > ~/.codex/hooks.json; mv ~/.codex ~/.c; echo x > ~/.codex/config.toml',
        ],
        [
          'to an installed guard',
          'cd ~/.config/host-tools/guard/codex; for f in rules.yaml guard.json hook; do echo x > $f; rm -f $f; mv audit.jsonl $f; done',
        ],
        ['in place of the folder of guards', 'mv ~/.config/host-tools ~/x; mv ~/.config ~/y'],
        [
          'to the configuration of git',
          'git config core.hooksPath evil; echo x > .git/config; echo x > .git/hooks/pre-commit; echo x > .git/hooks/new',
        ],
        ['in place of its folder', 'mv .git g; cp -r .git g; mkdir .git; echo x > .git/config'],
        [
          'where git looks for its configuration',
          'echo x > .git/commondir; echo x > .git/config.worktree; rm -f .git/commondir',
        ],
        [
          'to settings of the project',
          'mkdir .claude; echo x > .claude/settings.json; echo x > .mcp.json; rmdir .mcp.json; mkdir .mcp.json/x',
        ],
        [
          'by a hard link',
          'ln ~/.claude/settings.json s && echo x > s; ln .git/config .git/c && echo x > .git/c; ln ../rules.yaml r && echo x > r',
        ],
        [
          'through `/proc`',
          'echo x > /proc/self/root$HOME/.claude/settings.json; echo x > /proc/1/root$HOME/outside; echo x > /proc/self/cwd/.git/config',
        ],
      ];

      test.each(writes)('it does not write %s', async (_, script) => {
        world.write('.claude/settings.json', '{"statusLine":{"command":"~/.claude/line.sh"}}');
        world.write('.claude/line.sh', '#!/bin/sh\n');
        mkdirSync(world.at('.codex'));
        world.write('project/policy/rules.yaml', 'network: []\n');
        for (const file of ['guard.json', 'rules.yaml', 'hook', 'audit.jsonl'])
          world.write(`.config/host-tools/guard/codex/${file}`, file);
        const before = snapshot();
        const words = ['--host-tools', world.at('project/policy/rules.yaml'), '--', 'bash', '-c'];
        const { stderr } = await world.guard([...words, `${script}; exit 9`]).ended;
        expect(stderr).toMatch(
          /Read-only|busy|denied|not permitted|Is a directory|cross-device|exist/i,
        );
        const after = snapshot();
        for (const [path, text] of Object.entries(before))
          expect([path, after[path]]).toEqual([path, text]);
        // What is new lies where it may.
        const added = Object.keys(after).filter((path) => !(path in before));
        for (const path of added)
          expect(path).toMatch(/^(?:project\/(?:g\/|\.git\/g\/|s$|r$|evil)|\.claude\/y|\.codex\/)/);
      });

      test.skipIf(!othersCanRun)(
        'mounts of a namespace of its own change nothing outside',
        async () => {
          // Root has no rights in a namespace of its own that it could use here.
          const uid = process.getuid?.() === 0 ? 1_234 : undefined;
          if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${uid}`, world.home]);
          const tries = [
            'umount .git/config && echo x > .git/config',
            'umount -l .git && echo x > .git/config',
            'mount -o remount,bind,rw .git/config && echo x > .git/config',
            'mkdir -p m && mount --bind .git m && echo x > m/config',
            'mkdir -p m && mount --rbind . m && umount m/.git/config && echo x > m/.git/config',
            'mkdir -p m && mount --move .git m && echo x > .git/config',
            'mkdir -p u w m && mount -t overlay overlay -o lowerdir=u,upperdir=.git,workdir=w m && echo x > m/config',
            'mount --bind / /mnt && echo x > /mnt$PWD/../outside',
            'mount -o remount,bind,rw / && echo x > ../outside',
          ];
          const config = world.read('project/.git/config');
          const apart = (one: string) =>
            world.bash(
              `unshare -Urm --propagation unchanged sh -c '${one} && echo written' 2>&1; true`,
              { uid },
            );
          const { stdout: isPossible } = await apart('mkdir -p m && mount -t tmpfs tmpfs m');
          // Some systems do not let users do that at all.
          if (isPossible.includes('Operation not permitted')) return;
          expect(isPossible).toContain('written');
          for (const one of tries) {
            const { exit, stdout } = await apart(one);
            expect([one, exit, stdout.includes('written')]).toEqual([one, 0, false]);
          }
          expect(world.read('project/.git/config')).toBe(config);
          expect(world.read('outside')).toBeUndefined();
        },
      );

      test.skipIf(process.getuid?.() !== 0 || !othersCanRun)(
        'an ordinary user, with folders in `PATH` that are closed to them',
        async () => {
          mkdirSync(world.at('closed'), { mode: 0o700 });
          execFileSync('chown', ['-R', '1234:1234', world.at('project')]);
          mkdirSync(world.at('.local'));
          execFileSync('chown', ['1234:1234', world.at('.local'), world.home]);
          const { exit, stdout, stderr } = await world.bash(
            'id -u; echo 1 > made; echo x > ~/outside',
            {
              uid: 1_234,
              env: { PATH: `${world.at('closed')}:/root/bin:${process.env.PATH}` },
            },
          );
          expect([exit, stdout, world.read('project/made')]).toEqual([1, '1234\n', '1\n']);
          expect(stderr).toContain('Read-only file system');
        },
      );

      test('nothing is left in the project and in the home', async () => {
        const tree = (): unknown =>
          readdirSync(world.home, { recursive: true })
            .filter((name) => !`${name}`.startsWith('.local'))
            .sort();
        const before = tree();
        const { stdout } = await world.bash(
          'ls -d .mcp.json .claude .git/commondir; git status --short',
        );
        expect(stdout.split('\n')).toEqual(
          expect.arrayContaining(['.claude', '.git/commondir', '.mcp.json']),
        );
        expect(tree()).toEqual(before);
      });

      test('what one guard protects stays protected when another ends', async () => {
        let other: Promise<unknown> | undefined;
        const script =
          'echo ready; read; echo x > .mcp.json/x; echo x > .git/commondir; mkdir .claude/x; echo end';
        const fifo = world.at('project/go');
        execFileSync('mkfifo', [fifo]);
        const { stdout, stderr } = await world.guard(
          [
            '--host-tools',
            world.at('rules.yaml'),
            '--',
            'bash',
            '-c',
            `exec < go; ${script}`.replace('exec < go; echo ready; read', 'echo ready; read < go'),
          ],
          {
            onStdout: () => {
              other ??= world
                .bash('true')
                .then(() => execFileSync('sh', ['-c', `echo > '${fifo}'`]));
            },
          },
        ).ended;
        await other;
        expect(stdout).toBe('ready\nend\n');
        expect(stderr.match(/Read-only|Is a directory/g)).toHaveLength(3);
        expect(readdirSync(world.at('project/.git')).sort()).toEqual(['HEAD', 'config', 'hooks']);
      });

      test('the audit log of an installed guard and its lock can be written', async () => {
        for (const file of ['guard.json', 'rules.yaml', 'audit.jsonl'])
          world.write(`.config/host-tools/guard/codex/${file}`, file);
        const { exit } = await world.bash(
          'set -e; cd ~/.config/host-tools/guard/codex; echo 1 >> audit.jsonl; echo > audit.jsonl.lock; rm audit.jsonl.lock; mv audit.jsonl audit.jsonl.1; echo 1 > ~/.local/state/host-tools/hook/x',
        );
        expect(exit).toBe(0);
        expect(world.read('.config/host-tools/guard/codex/audit.jsonl.1')).toBe('audit.jsonl1\n');
      });

      test('sections of the file that a sandbox does not use are named', async () => {
        const rule = "{ id: a, effect: deny, tools: ['*'] }";
        world.write(
          'rules.yaml',
          `network: []\nrules: [${rule}]\nprofiles: {}\nmcpServers: { a: { command: x } }\n`,
        );
        const { exit, stderr } = await world.bash('true');
        expect([exit, stderr]).toEqual([
          0,
          expect.stringMatching(/does not use `rules`, `mcpServers` of \S*rules\.yaml\.\n$/),
        ]);
      });

      test.each(['missing', 'there'])(
        'what hooks run faster with cannot be written: %s',
        async (which) => {
          const cache = '.local/state/host-tools/hook-cache';
          if (which === 'there') world.write(`${cache}/code-1`, 'code');
          const { stdout } = await world.bash(
            `cd ~/.local/state/host-tools; mkdir -p hook-cache; echo x > hook-cache/code-1; mv hook-cache x || echo kept`,
          );
          expect(stdout).toBe('kept\n');
          expect(world.read(`${cache}/code-1`)).toBe(which === 'there' ? 'code' : undefined);
        },
      );

      test('temporary files and sockets of other programs are out of reach', async () => {
        const path = world.at('service.sock');
        const server = createServer((socket) => socket.end('served'));
        await new Promise<void>((resolve) => server.listen(path, resolve));
        try {
          const ask = `const s = require('net').connect(${JSON.stringify(path)}); s.on('data', (d) => console.log(String(d))); s.on('error', (e) => console.log(e.code));`;
          world.write('project/ask.cjs', ask);
          const outside = await promisify(execFile)(process.execPath, [
            world.at('project/ask.cjs'),
          ]);
          expect(outside.stdout).toBe('served\n');
          const { stdout } = await world.bash(`'${process.execPath}' ask.cjs; ls -A /run /var/tmp`);
          expect(stdout).toMatch(/^(?:ECONNREFUSED|ENOTSOCK)\n/);
          expect(stdout).not.toContain('dbus');
        } finally {
          server.close();
        }
      });

      test('settings of the kernel stay as they are', async () => {
        for (const file of [
          '/proc/sys/kernel/domainname',
          '/proc/sysrq-trigger',
          '/sys/kernel/mm/transparent_hugepage/enabled',
        ]) {
          if (!existsSync(file)) continue;
          const { stdout } = await world.bash(`(: > ${file}) 2>/dev/null && echo opened; true`);
          expect([file, stdout]).toEqual([file, '']);
        }
      });
    });

    describe('the network', () => {
      const fetched = (port: number, host = '127.0.0.1'): string =>
        `curl -sS -m 5 http://${host}:${port}/ 2>&1; echo`;

      test('a port of this machine is reached if it is listed, and no other', async () => {
        const [listed, other] = [await startServer(), await startServer()];
        try {
          for (const entry of [
            `127.0.0.1:${listed.port}`,
            `localhost:${listed.port}`,
            `"[::1]:${listed.port}"`,
          ]) {
            world.write('rules.yaml', `network: [${entry}]\nrules: []\n`);
            const { stdout } = await world.bash(`${fetched(listed.port)}; ${fetched(other.port)}`);
            expect(stdout.match(/reached/g)).toHaveLength(1);
            expect(stdout).toMatch(/^reached/);
          }
          world.write('rules.yaml', 'network: [127.0.0.1]\nrules: []\n');
          const all = await world.bash(`${fetched(listed.port)}; ${fetched(other.port)}`);
          expect(all.stdout.match(/reached/g)).toHaveLength(2);
          for (const network of ['[]', '[example.com]', '[127.0.0.2]']) {
            world.write('rules.yaml', `network: ${network}\nrules: []\n`);
            const { stdout } = await world.bash(
              `${fetched(listed.port)}; NO_PROXY= no_proxy= ${fetched(listed.port)}; NO_PROXY= no_proxy= ${fetched(listed.port, '0x7f.1')}; NO_PROXY= no_proxy= ${fetched(listed.port, '[::ffff:127.0.0.1]')}`,
            );
            expect(stdout).not.toContain('reached');
          }
        } finally {
          listed.close();
          other.close();
        }
      });

      test('programs that know of no proxy reach nothing: neither names nor addresses', async () => {
        world.write('rules.yaml', 'network: [example.com]\nrules: []\n');
        const { stdout } = await world.bash(
          [
            'getent hosts example.com && echo found',
            '(: < /dev/tcp/192.0.2.1/80) 2>/dev/null && echo connected',
            '(: < /dev/udp/8.8.8.8/53) 2>/dev/null && echo sent',
            'ip -o link 2>/dev/null | grep -v " lo:" && echo linked',
            'cat /proc/net/route | tail -n +2',
            'true',
          ].join('; '),
        );
        expect(stdout).toBe('');
      });

      test('what is refused is said to the program and, at the end, to the user', async () => {
        world.write('rules.yaml', 'network: ["*.example.com"]\nrules: []\n');
        const { stdout, stderr } = await world.bash(
          'curl -sS http://example.com/ http://other.test/; curl -sS https://x.test/ || true',
        );
        expect(stdout).toContain('example.com:80 is not in `network`');
        expect(stderr).toContain('refused example.com:80.');
        expect(stderr).toContain('refused x.test:443.');
      });

      test('servers inside are reached from inside, and not from outside', async () => {
        const serve = `const s = require('http').createServer((_, r) => r.end('inside')); s.listen(45123, '127.0.0.1', async () => { console.log(await (await fetch('http://127.0.0.1:45123/')).text()); process.exit(); });`;
        const { stdout } = await world.bash(`'${process.execPath}' -e "${serve}"`);
        expect(stdout).toBe('inside\n');
      });
    });

    describe('the process', () => {
      test.each([
        ['exit 7', 7],
        ['kill -KILL $$', 137],
        ['kill -TERM $$', 143],
        ['true', 0],
      ])('%s: the exit code is that of the command', async (script, exit) => {
        expect((await world.bash(script)).exit).toBe(exit);
      });

      test('a command that is missing has the exit code of a shell', async () => {
        const { exit, stderr } = await world.guard([
          '--host-tools',
          world.at('rules.yaml'),
          '--',
          'no-such-program',
        ]).ended;
        expect(exit).toBe(127);
        expect(stderr).toContain('no-such-program');
      });

      test('words and standard input are passed on as they are', async () => {
        const words = ['--json', '--help', '-V', 'a b', '', '$HOME', "'"];
        const { stdout, exit } = await world.guard(
          [
            '--host-tools',
            world.at('rules.yaml'),
            '--',
            'sh',
            '-c',
            'cat; for w; do echo "<$w>"; done',
            'sh',
            ...words,
          ],
          { stdin: 'typed\n' },
        ).ended;
        expect(exit).toBe(0);
        expect(stdout).toBe(`typed\n${words.map((word) => `<${word}>\n`).join('')}`);
      });

      test.each(['SIGTERM', 'SIGINT'] as const)(
        '%s reaches the command, which may go on',
        async (name) => {
          let isSent = false;
          const script = `trap 'echo heard; exit 5' ${name.slice(3)}; echo ready; while :; do sleep 0.1; done`;
          const { exit, stdout } = await world.guard(
            ['--host-tools', world.at('rules.yaml'), '--', 'bash', '-c', script],
            {
              onStdout(_, running) {
                if (!isSent) running.kill(name);
                isSent = true;
              },
            },
          ).ended;
          expect([exit, stdout]).toEqual([5, 'ready\nheard\n']);
        },
      );

      test('what the command leaves behind ends with it, and with the guard', async () => {
        const mark = `mark-${process.pid}-${Date.now()}`;
        const count = (): number =>
          readdirSync('/proc').filter((pid) => {
            try {
              return (
                /^\d+$/.test(pid) &&
                execFileSync('cat', [`/proc/${pid}/cmdline`], {
                  encoding: 'latin1',
                  stdio: 'pipe',
                }).startsWith(mark)
              );
            } catch {
              return false;
            }
          }).length;
        await world.bash(
          `(exec -a ${mark} sleep 300) & (setsid bash -c 'exec -a ${mark} sleep 300' &) ; sleep 0.2; true`,
        );
        expect(count()).toBe(0);
        await world.guard(
          [
            '--host-tools',
            world.at('rules.yaml'),
            '--',
            'bash',
            '-c',
            `(exec -a ${mark} sleep 300) & echo ready; wait`,
          ],
          { onStdout: (_, running) => running.kill('SIGKILL') },
        ).ended;
        await expect.poll(count).toBe(0);
      });

      test('it does not see or end processes outside', async () => {
        const { stdout } = await world.bash(
          `kill -0 ${process.pid} 2>/dev/null && echo alive; ls /proc | grep -c '^[0-9]'; hostname`,
        );
        expect(Number(stdout.split('\n')[0])).toBeLessThan(10);
        expect(stdout).toMatch(/\nhost-tools-[0-9a-f]{8}\n$/);
      });

      test.skipIf(spawnSync('python3', ['--version']).status !== 0)(
        'its terminal is passed on, and cannot be typed into',
        async () => {
          world.write(
            'project/type.py',
            [
              'import fcntl, os, sys, termios',
              'print(os.isatty(0), os.isatty(1))',
              'print(open("/dev/tty").isatty())',
              'for request in (0x5412, 0x541c):',
              '  try: fcntl.ioctl(0, request, b"x"); print("typed")',
              '  except OSError as error: print(error.errno)',
              'print(sys.stdin.readline().strip())',
            ].join('\n'),
          );
          const words = [
            process.execPath,
            join(built, 'cli.js'),
            'guard',
            '--host-tools',
            world.at('rules.yaml'),
            '--',
            'python3',
            'type.py',
          ];
          world.write(
            'terminal.py',
            [
              'import os, pty, sys',
              'pid, fd = pty.fork()',
              `if pid == 0: os.chdir(${JSON.stringify(world.at('project'))}); os.execv(sys.argv[1], sys.argv[1:])`,
              'os.write(fd, b"line\\n")',
              'text = b""',
              'try:',
              '  while True: text += os.read(fd, 999)',
              'except OSError: pass',
              'os.write(1, text); sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))',
            ].join('\n'),
          );
          const { status, stdout } = spawnSync('python3', [world.at('terminal.py'), ...words], {
            encoding: 'utf8',
            env: { PATH: process.env.PATH, HOME: world.home },
          });
          expect([status, stdout.replaceAll('\r', '').replace(/^line\n/, '')]).toEqual([
            0,
            'True True\nTrue\n1\n1\nline\n',
          ]);
        },
      );
    });
  },
);

describe('without a file', () => {
  const rules = 'network: [a.example]\nrules:\n  - { effect: deny, tools: WebFetch }\n';
  const run = () =>
    spawnSync(
      process.execPath,
      [join(built, 'cli.js'), 'hook', 'install', 'codex', '--rules', world.at('rules.yaml')],
      {
        env: { PATH: process.env.PATH, HOME: world.home },
        cwd: world.at('project'),
        encoding: 'utf8',
      },
    );

  test.skipIf(noSandbox !== undefined)(
    'the rules of the installed guard give the network',
    async () => {
      world.write('rules.yaml', rules);
      expect(run().status).toBe(0);
      world.write(
        'bin/codex',
        '#!/bin/sh\ncurl -sS http://b.example/ http://a.example:1/ 2>&1; cat ~/.codex/config.toml',
      );
      chmodSync(world.at('bin/codex'), 0o755);
      const env = { PATH: `${world.at('bin')}:${process.env.PATH}` };
      const { exit, stdout } = await world.guard(['--', 'codex'], { env }).ended;
      expect([exit, stdout]).toEqual([
        0,
        expect.stringMatching(
          /b\.example:80 is not in `network`[\s\S]*a\.example (?:has no address|could)/,
        ),
      ]);
      world.write('.config/host-tools/guard/codex/rules.yaml', `${rules}\n`);
      const changed = await world.guard(['--', 'codex'], { env }).ended;
      expect([changed.exit, changed.stderr]).toEqual([
        1,
        expect.stringContaining('is not as it was installed'),
      ]);
    },
  );
});

describe('other commands', () => {
  test('say that they do not limit the network', async () => {
    world.write('rules.yaml', 'network: [a.example]\nrules: []\n');
    const { exit, stderr } = await cli(['list', '--host-tools', world.at('rules.yaml')]);
    expect([exit, stderr]).toEqual([
      0,
      expect.stringContaining('`network` is for `host-tools guard`'),
    ]);
  });

  test('refuse hosts that cannot be understood, as `guard` does', async () => {
    world.write('rules.yaml', 'network: ["https://a.example"]\nrules: []\n');
    const { exit, stderr } = await cli(['list', '--host-tools', world.at('rules.yaml')]);
    expect([exit, stderr]).toEqual([1, expect.stringContaining('expected a host such as')]);
  });

  test('a hook accepts the key', async () => {
    const { before } = hookWorld({
      network: ['a.example'],
      rules: [{ id: 'no', effect: 'deny', tools: 'Bash' }],
    });
    for (const _ of [1, 2]) expect((await before('Bash', { command: 'ls' })).effect).toBe('deny');
  });
});

describe('what is refused before anything starts', () => {
  const start = (words: readonly string[], setup: Parameters<GuardWorld['guard']>[1] = {}) =>
    world.guard(words, setup).ended;
  const file = (): readonly string[] => [
    '--host-tools',
    world.at('rules.yaml'),
    '--',
    'touch',
    'started',
  ];

  test.each<[string, readonly string[], number, RegExp]>([
    ['no command', ['--host-tools', 'x.yaml', '--'], 2, /`guard` needs COMMAND/],
    [
      'an empty command',
      ['--host-tools', 'x.yaml', '--', ''],
      2,
      /needs COMMAND, got an empty word/,
    ],
    [
      'a command that names no agent',
      ['--', 'touch', 'started'],
      2,
      /needs `--host-tools FILE`: COMMAND is none of/,
    ],
    ['an agent without a guard', ['--', 'codex'], 2, /`npx host-tools hook install codex`/],
    [
      'two files',
      ['--host-tools', 'a', '--host-tools', 'b', '--', 'touch', 'started'],
      2,
      /takes one/,
    ],
    [
      'a missing file',
      ['--host-tools', 'none.yaml', '--', 'touch', 'started'],
      1,
      /none\.yaml:1:1: there is no such file/,
    ],
    ['an unknown option', ['--bogus', '--', 'touch', 'started'], 2, /--bogus/],
  ])('%s', async (_, words, code, message) => {
    const { exit, stderr } = await start(words);
    expect([exit, stderr]).toEqual([code, expect.stringMatching(message)]);
    expect(world.read('project/started')).toBeUndefined();
  });

  test.each([
    ['rules: []\n', /neither `network` nor `rules`/],
    ['network: example.com\n', /network: expected/],
    ['network: [https://example.com]\n', /rules\.yaml:1:1: network: .*expected a host such as/],
    ['network: ["*"]\n', /expected a host such as/],
    ['network: [10.0.0.0/8]\n', /expected a host such as/],
    ['network: [5]\n', /network/],
    ['networks: []\n', /networks/],
    ['network: [a.example:99999]\n', /expected a host such as/],
    ['[', /rules\.yaml:1/],
  ])('the file %j', async (text, message) => {
    world.write('rules.yaml', text);
    const { exit, stderr } = await start(file());
    expect([exit, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(world.read('project/started')).toBeUndefined();
  });

  test('the home, a folder above it, and a folder of the guard itself', async () => {
    mkdirSync(world.at('.config/host-tools/guard/codex'), { recursive: true });
    for (const cwd of [world.home, '/tmp', '/', world.at('.config/host-tools/guard/codex')]) {
      const { exit, stderr } = await start(file(), { cwd });
      expect([exit, stderr]).toEqual([1, expect.stringMatching(/Start it/)]);
    }
  });

  test('a guarded file that has a second name', async () => {
    for (const make of [
      () => symlinkSync('../elsewhere.json', world.at('project/.mcp.json')),
      () => {
        world.write('kept', '[core]');
        rmSync(world.at('project/.git/config'));
        linkSync(world.at('kept'), world.at('project/.git/config'));
      },
    ]) {
      world = guardWorld(built);
      make();
      const { exit, stderr } = await start(file());
      expect([exit, stderr]).toEqual([1, expect.stringMatching(/Put a file of its own there/)]);
    }
  });

  test('a system without bubblewrap: it says what to install', async () => {
    const { exit, stderr } = await start(file(), { env: { PATH: world.home } });
    expect([exit, stderr]).toEqual([
      1,
      expect.stringMatching(/nothing was started.*apt-get install bubblewrap/),
    ]);
  });

  test('a bubblewrap that the agent may have written', async () => {
    world.write('project/node_modules/.bin/bwrap', '#!/bin/sh\ntouch started\n');
    chmodSync(world.at('project/node_modules/.bin/bwrap'), 0o755);
    const { exit, stderr } = await start(file(), {
      env: { PATH: world.at('project/node_modules/.bin') },
    });
    expect([exit, stderr]).toEqual([1, expect.stringContaining('found no sandbox')]);
    expect(world.read('project/started')).toBeUndefined();
  });

  test('a bubblewrap that cannot make namespaces', async () => {
    world.write(
      'bin/bwrap',
      '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n',
    );
    chmodSync(world.at('bin/bwrap'), 0o755);
    const { exit, stderr } = await start(file(), { env: { PATH: world.at('bin') } });
    expect([exit, stderr]).toEqual([
      1,
      expect.stringMatching(/No permissions[\s\S]*The sandbox could not be started/),
    ]);
    expect(existsSync(world.at('project/.mcp.json'))).toBe(false);
  });
});
